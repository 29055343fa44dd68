/** The internal instruction stream, the frames, and what the parts of the interpreter tell each other. Read by AssemblyScript only. */

import { gasOfSlice } from './layout'

// ---- instructions beyond the opcodes of the EVM (which keep their numbers); units are u16, operands follow the instruction
/** need u16, growth u16 (bytes of stack), gas u32: a basic block is paid for and checked at once */
export const opBlock: u16 = 0x100
export const blockSize: usize = 10
/** u16 */
export const opPushShort: u16 = 0x101
/** u64 */
export const opPushLong: u16 = 0x102
/** word */
export const opPushWord: u16 = 0x103
/** u32 distance of the target's block from the start of the stream */
export const opJumpTo: u16 = 0x104
export const opJumpIfTo: u16 = 0x105
export const opJumpIfZeroTo: u16 = 0x106
/** jumps when the compare of the two top words holds */
export const opJumpIfEqualTo: u16 = 0x107
export const opJumpIfLessTo: u16 = 0x108
export const opJumpIfGreaterTo: u16 = 0x109
export const opJumpIfNotEqualTo: u16 = 0x10a
export const opJumpIfNotLessTo: u16 = 0x10b
export const opJumpIfNotGreaterTo: u16 = 0x10c
/** u16: the constant is the first operand */
export const opAddShort: u16 = 0x10d
export const opShlShort: u16 = 0x10e
export const opShrShort: u16 = 0x10f
/** u64 */
export const opAndLong: u16 = 0x110
export const opEqualLong: u16 = 0x111
/** the address is a u16 constant */
export const opLoadAt: u16 = 0x112
export const opStoreAt: u16 = 0x113
/** AND with 2^160 − 1 */
export const opAndAddress: u16 = 0x114
/** SWAP1 POP */
export const opNip: u16 = 0x115
/** SUB, LT, GT, DIV with the operands the other way round: after SWAP1 */
export const opSubSwapped: u16 = 0x116
/** u32 gas of the rest of the block: GAS and SSTORE want to know what is left exactly */
export const opGas: u16 = 0x118
export const opStore: u16 = 0x119
/** first thing in each stream: where jumps lead whose target is no JUMPDEST */
export const opInvalidJump: u16 = 0x11a
/** u16, 32 n: DUPn and then ADD: nothing is pushed */
export const opDupAdd: u16 = 0x11b
/** POP POP */
export const opPopTwo: u16 = 0x11c
/** u32 pc: a step for the traced build */
export const opStep: u16 = 0x11d
/** u16: the word is all ones above it */
export const opPushNegative: u16 = 0x11e
/** u32 pc, u32 distance: what comes next is not translated yet; the operand at that distance leads here, and then to it */
export const opContinue: u16 = 0x11f

// ---- frames
export const frameBytes: usize = 256
export const frameCode: usize = 0
export const frameIp: usize = 4
export const frameSp: usize = 8
/** stack pointer of the empty stack */
export const frameFloor: usize = 12
export const frameMemory: usize = 16
export const frameMemorySize: usize = 20
export const frameStream: usize = 24
export const frameJumps: usize = 28
/** u64, all that is left of a frame that waits */
export const frameGas: usize = 32
/** u64, gas of the slice that the frame it waits for could not be given */
export const frameSpare: usize = 40
export const frameSelf: usize = 48
export const frameInput: usize = 52
export const frameInputSize: usize = 56
export const frameIsStatic: usize = 60
/** words */
export const frameCaller: usize = 64
export const frameValue: usize = 96
export const frameCheckpoint: usize = 128
/** u32, one of `kind…` */
export const frameKind: usize = 132
export const frameRefundBefore: usize = 136
/** in the memory of the caller */
export const frameOutputTo: usize = 144
export const frameOutputSize: usize = 148
/** u64: gas that it was given (traced build) */
export const frameGasGiven: usize = 152
/** u32: account whose code runs */
export const frameCodeAccount: usize = 160

export const kindCall: u32 = 0
export const kindCreate: u32 = 1
export const kindPrecompile: u32 = 2

/** Frames below the first one. */
export const maxDepth: u32 = 1024
/** Bytes of one operand stack. */
export const maxStackBytes: usize = 32768
export const sliceGas: u64 = gasOfSlice

// ---- what an operation answers the loop; exits are those of layout.ts
export const goOn: i32 = 0
/** Another frame runs now. */
export const switched: i32 = 0x200
/** What comes next in the frame is to be translated first. */
export const wantsMore: i32 = 0x201
/** The frame ends: plus one of `ended…`. */
export const frameEnds: i32 = 0x100

// ---- prices in gas that are not in the opcode table
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
