/** Internal instruction stream, frames, and values shared by the parts of the interpreter. Only AssemblyScript reads this file. */

import { gasOfSlice } from './layout'

// ---- instructions in addition to the EVM's opcodes, which keep their numbers; a unit is a u16, operands follow the instruction
/** Operands: need u16, growth u16 (bytes of stack), gas u32. Charges and checks a basic block at once. */
export const opBlock: u16 = 0x100
export const blockSize: usize = 10
/** Operand u16. */
export const opPushShort: u16 = 0x101
/** Operand u64. */
export const opPushLong: u16 = 0x102
/** Operand: a word. */
export const opPushWord: u16 = 0x103
/** Operand u32: distance of the target block from the start of the stream. */
export const opJumpTo: u16 = 0x104
export const opJumpIfTo: u16 = 0x105
export const opJumpIfZeroTo: u16 = 0x106
/** Jumps when the comparison of the two top words holds. */
export const opJumpIfEqualTo: u16 = 0x107
export const opJumpIfLessTo: u16 = 0x108
export const opJumpIfGreaterTo: u16 = 0x109
export const opJumpIfNotEqualTo: u16 = 0x10a
export const opJumpIfNotLessTo: u16 = 0x10b
export const opJumpIfNotGreaterTo: u16 = 0x10c
/** Operand u16: the constant is the first operand. */
export const opAddShort: u16 = 0x10d
export const opShlShort: u16 = 0x10e
export const opShrShort: u16 = 0x10f
/** Operand u64. */
export const opAndLong: u16 = 0x110
export const opEqualLong: u16 = 0x111
/** Operand u16: the memory address. */
export const opLoadAt: u16 = 0x112
export const opStoreAt: u16 = 0x113
/** AND with 2^160 − 1. */
export const opAndAddress: u16 = 0x114
/** SWAP1 POP. */
export const opNip: u16 = 0x115
/** SUB, LT, GT, DIV with exchanged operands, as after SWAP1. */
export const opSubSwapped: u16 = 0x116
/** Operand u32: gas of the rest of the block. GAS and SSTORE need the exact remaining gas. */
export const opGas: u16 = 0x118
export const opStore: u16 = 0x119
/** First instruction of each stream: target of jumps without JUMPDEST. */
export const opInvalidJump: u16 = 0x11a
/** Operand u16, 32 n: DUPn followed by ADD, without a push. */
export const opDupAdd: u16 = 0x11b
/** POP POP. */
export const opPopTwo: u16 = 0x11c
/** Operand u32 pc: a step of the traced build. */
export const opStep: u16 = 0x11d
/** Operand u16: the low bits of a word whose higher bits are all one. */
export const opPushNegative: u16 = 0x11e
/** Operands u32 pc, u32 distance. Stands for code that is not translated yet; after translation, the operand at that distance points to the code. */
export const opContinue: u16 = 0x11f

// ---- frames
export const frameBytes: usize = 256
export const frameCode: usize = 0
export const frameIp: usize = 4
export const frameSp: usize = 8
/** Stack pointer of the empty stack. */
export const frameFloor: usize = 12
export const frameMemory: usize = 16
export const frameMemorySize: usize = 20
export const frameStream: usize = 24
export const frameJumps: usize = 28
/** u64, remaining gas of a waiting frame. */
export const frameGas: usize = 32
/** u64, gas of the slice that the called frame was not given. */
export const frameSpare: usize = 40
export const frameSelf: usize = 48
export const frameInput: usize = 52
export const frameInputSize: usize = 56
export const frameIsStatic: usize = 60
/** Words. */
export const frameCaller: usize = 64
export const frameValue: usize = 96
export const frameCheckpoint: usize = 128
/** u32, one of `kind…`. */
export const frameKind: usize = 132
export const frameRefundBefore: usize = 136
/** Address in the caller's memory. */
export const frameOutputTo: usize = 144
export const frameOutputSize: usize = 148
/** u64, gas given to the frame (traced build). */
export const frameGasGiven: usize = 152
/** u32, entry of the account whose code runs; number of a precompile or native contract. */
export const frameCodeAccount: usize = 160
/** u32 bits of a native frame, as in `ctxNativeFlags`. */
export const frameNativeFlags: usize = 164
/** u32, undo checkpoint and i64, refund counter at the start of a native frame. */
export const frameNativeStart: usize = 168
export const frameNativeRefund: usize = 176
/** u64, slice and reserve at the start of a native frame. */
export const frameNativeGas: usize = 184
export const frameNativeReserve: usize = 192

export const kindCall: u32 = 0
export const kindCreate: u32 = 1
export const kindPrecompile: u32 = 2
export const kindNative: u32 = 3

/** Maximum number of frames below the first one. */
export const maxDepth: u32 = 1024
/** Size in bytes of one operand stack. */
export const maxStackBytes: usize = 32768
export const sliceGas: u64 = gasOfSlice

// ---- results of an operation for the loop; exits are those of layout.ts
export const goOn: i32 = 0
/** Another frame runs now. */
export const switched: i32 = 0x200
/** The next part of the frame's code must be translated first. */
export const wantsMore: i32 = 0x201
/** The frame ends: add one of `ended…`. */
export const frameEnds: i32 = 0x100

// ---- gas prices that are not in the opcode table
export const gasCopyWord: u64 = 3
export const gasKeccakWord: u64 = 6
export const gasExpByte: u64 = 50
export const gasLogByte: u64 = 8
export const gasColdAccount: u64 = 2600
export const gasColdSlot: u64 = 2100
export const gasWarm: u64 = 100
export const gasStoreSentry: u64 = 2300
export const gasStoreSet: u64 = 20000
export const gasStoreReset: u64 = 2900
export const refundStoreClear: i64 = 4800
export const gasCallValue: u64 = 9000
export const gasCallStipend: u64 = 2300
export const gasNewAccount: u64 = 25000
export const gasCodeByte: u64 = 200
export const gasInitcodeWord: u64 = 2
/** Bytes; EIP-170, EIP-3860. */
export const maxCodeSize: u32 = 24576
export const maxInitcodeSize: u32 = 49152

export const forkShanghai: u32 = 1
export const forkCancun: u32 = 2
export const forkPrague: u32 = 3
export const forkOsaka: u32 = 4
