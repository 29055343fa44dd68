/**
 * Layout of the traced build's reports in linear memory. The AssemblyScript sources read this file too, so it has only plain numbers. Offsets are
 * in bytes, numbers little-endian, words four u64 limbs, least significant first.
 *
 * Steps end at `ctxStepsTop` (layout.ts) and start where the host has set it. Before each opcode in `ctxTraceOps`, one record is appended;
 * when the largest record might not fit, `exitSteps` comes first. With `traceStops` every record is followed by `exitSteps` before its
 * opcode runs, so that the host can read memory and return data in place. The host reads the records first at every exit and resets
 * `ctxStepsTop`.
 *
 * With `traceFrames`, each call and creation exits with `exitEnter` at its start and `exitLeave` at its end, with a record at `ioBase`: the message
 * itself, precompiles (the leave follows `endPrecompile`), frames that end immediately (call depth, insufficient balance, nonce overflow), and each
 * SELFDESTRUCT (enter, leave). Logs need no exit: at the next exit, the host reads the records added since the last `ctxLogsTop`.
 */

/** Bits of `ctxTraceMode`. */
export const traceSteps = 1
export const traceFrames = 2
export const traceStops = 4

/** u32: maximum number of stack words in a record, from the top. */
export const ctxTraceWords = 0x484
/** Bitmap of 256 bits: opcodes to record. */
export const ctxTraceOps = 0x580

// ---- step record: the head, then `stepWords` words, the top of the stack first
/** u32. */
export const stepPc = 0
/** u16. */
export const stepOp = 4
/** u16, 0 for the message. */
export const stepDepth = 6
/** u64, including the gas beyond `ctxGas`; before the opcode is charged. */
export const stepGas = 8
/** i64. */
export const stepRefund = 16
/** u32, words on the stack. */
export const stepStackSize = 24
/** u32, bytes of memory in use, a multiple of 32. */
export const stepMemorySize = 28
/** u32, gas of the opcode that does not depend on operands. */
export const stepStaticCost = 32
/** u32, number of following words. */
export const stepWords = 36
/** u32, address of the frame's memory. */
export const stepMemory = 40
/** A multiple of eight; four bytes are unused. */
export const stepHeadBytes = 48

// ---- record of `exitEnter`, at `ioBase`
/** u32, one of `kind…`. */
export const enterKind = 0
/** u32. */
export const enterDepth = 4
/** u64, stipend included. */
export const enterGas = 8
/** Words. */
export const enterFrom = 16
export const enterTo = 48
export const enterSelf = 80
export const enterValue = 112
/** u32. */
export const enterInput = 144
export const enterInputSize = 148

/** In the order of `FrameKind`. */
export const kindCall = 0
export const kindCallcode = 1
export const kindDelegatecall = 2
export const kindStaticcall = 3
export const kindCreate = 4
export const kindCreate2 = 5
export const kindSelfdestruct = 6

// ---- record of `exitLeave`, at `ioBase`
/** u32, one of `ended…` (layout.ts). */
export const leaveEnded = 0
/** u32. */
export const leaveDepth = 4
/** u64, including the cost of deployed code. */
export const leaveGasUsed = 8
/** u32: return data, revert data or deployed code. */
export const leaveOutput = 16
export const leaveOutputSize = 20
/** u32, the opcode that halted plus one; 0: unknown. */
export const leaveOpcode = 24
