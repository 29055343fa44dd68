// A minimal assembler for the bench's loops.
import { bytesFromBigint } from '#lib/bytes'

/** Opcodes of the programs. @see Ethereum yellow paper, appendix H */
// biome-ignore format: a table
export const op = {
  stop: 0x00, add: 0x01, mul: 0x02, sub: 0x03, div: 0x04, sdiv: 0x05, mod: 0x06, smod: 0x07, addmod: 0x08, mulmod: 0x09, exp: 0x0a, signextend: 0x0b,
  lt: 0x10, slt: 0x12, eq: 0x14, iszero: 0x15, and: 0x16, not: 0x19, byte: 0x1a, shl: 0x1b, shr: 0x1c, sar: 0x1d, clz: 0x1e, keccak256: 0x20,
  address: 0x30, balance: 0x31, origin: 0x32, caller: 0x33, callvalue: 0x34, calldataload: 0x35, calldatasize: 0x36, calldatacopy: 0x37,
  codesize: 0x38, codecopy: 0x39, gasprice: 0x3a, extcodesize: 0x3b, extcodecopy: 0x3c, returndatasize: 0x3d, returndatacopy: 0x3e, extcodehash: 0x3f,
  blockhash: 0x40, selfbalance: 0x47, blobhash: 0x49, pop: 0x50, mload: 0x51, mstore: 0x52, mstore8: 0x53, sload: 0x54, sstore: 0x55, jump: 0x56,
  jumpi: 0x57, pc: 0x58, msize: 0x59, gas: 0x5a, jumpdest: 0x5b, tload: 0x5c, tstore: 0x5d, mcopy: 0x5e, push0: 0x5f, push32: 0x7f, dup1: 0x80, swap1: 0x90,
  log0: 0xa0, create: 0xf0, call: 0xf1, callcode: 0xf2, return: 0xf3, delegatecall: 0xf4, create2: 0xf5, staticcall: 0xfa, revert: 0xfd, selfdestruct: 0xff,
} as const

/** PUSH1 … PUSH32, as short as the value. */
export function push(value: number | bigint, width?: number): number[] {
  const number = BigInt(value)
  const bytes = width ?? Math.max(1, Math.ceil(number.toString(16).length / 2))
  return [0x5f + bytes, ...bytesFromBigint(number, bytes)]
}

export const dup = (depth: number): number => op.dup1 - 1 + depth
export const swap = (depth: number): number => op.swap1 - 1 + depth

/**
 * Program: `before`, then `body`, repeated by the first word of the call data. The body finds the number of remaining repetitions on top of the stack,
 * above the values of `before`, and leaves the stack unchanged.
 */
export function loop(before: readonly number[], body: readonly number[]): Uint8Array {
  const head = [...before, ...push(0), op.calldataload]
  return Uint8Array.from([
    ...head,
    op.jumpdest,
    ...body,
    ...[...push(1), op.swap1, op.sub, op.dup1],
    ...[...push(head.length, 3), op.jumpi, op.stop],
  ])
}
