/**
 * What the traced build leaves for its host, in linear memory: read by the AssemblyScript sources too, so only plain numbers stand here. Offsets are
 * in bytes, numbers little-endian, words four u64 limbs, least significant first.
 *
 * Steps lie below `ctxStepsTop` (layout.ts), from where the host has set it. Before each opcode that `ctxTraceOps` wants, one record is appended;
 * one that might not fit any more is an `exitSteps` before it is written. With `traceStops` every record is followed by `exitSteps`, before its
 * opcode runs: the host then reads memory and return data where they lie. The host takes the records at every exit, first of all, and sets
 * `ctxStepsTop` back.
 *
 * With `traceFrames`, each call and creation is an `exitEnter` when it begins and an `exitLeave` when it ends, with a record at `ioBase`: the message
 * itself, precompiles (the leave after `endPrecompile`), those that end at once (too deep, without the money, nonce overflow), and each SELFDESTRUCT
 * (enter, leave). Logs need no exit: the host reads what `ctxLogsTop` has grown by, at the next one.
 */

/** Bits of `ctxTraceMode`. */
export const traceSteps = 1
export const traceFrames = 2
export const traceStops = 4

/** u32: words of the stack that a record holds at most, from the top */
export const ctxTraceWords = 0x484
/** bitmap of 256 bits: opcodes that are recorded */
export const ctxTraceOps = 0x580

// ---- step record: the head, then `stepWords` words, the top of the stack first
/** u32 */
export const stepPc = 0
/** u16 */
export const stepOp = 4
/** u16, 0 for the message */
export const stepDepth = 6
/** u64, what lies beyond `ctxGas` included; before the opcode is paid for */
export const stepGas = 8
/** i64 */
export const stepRefund = 16
/** u32, words on the stack */
export const stepStackSize = 24
/** u32, bytes of memory in use, a multiple of 32 */
export const stepMemorySize = 28
/** u32, what the opcode costs whatever its operands are */
export const stepStaticCost = 32
/** u32, words that follow */
export const stepWords = 36
/** u32, where the frame's memory lies */
export const stepMemory = 40
/** a multiple of eight: four bytes are left over */
export const stepHeadBytes = 48

// ---- record of `exitEnter`, at `ioBase`
/** u32, one of `kind…` */
export const enterKind = 0
/** u32 */
export const enterDepth = 4
/** u64, stipend included */
export const enterGas = 8
/** words */
export const enterFrom = 16
export const enterTo = 48
export const enterSelf = 80
export const enterValue = 112
/** u32 */
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
/** u32, one of `ended…` (layout.ts) */
export const leaveEnded = 0
/** u32 */
export const leaveDepth = 4
/** u64, the price of deployed code included */
export const leaveGasUsed = 8
/** u32: return data, revert data or deployed code */
export const leaveOutput = 16
export const leaveOutputSize = 20
/** u32, the opcode that halted plus one; 0: it is not known */
export const leaveOpcode = 24
