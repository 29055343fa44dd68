import * as OP from './opcode'
import { forkCancun, forkOsaka, forkShanghai } from './internal'

/** Gas and stack effect of each opcode: u16 static gas, u8 words taken, u8 words given; u32 0xffffffff for an undefined opcode. */
const table: usize = memory.data(1024)
export const noOpcode: u32 = 0xffffffff

/** Translator data of each opcode: u8 maximum bytes of stream, u8 bits for its handling of constants. */
const budgets: usize = memory.data(512)
export const isPushed: u32 = 1
export const folds: u32 = 2
export const inverts: u32 = 4
export const jumpsIf: u32 = 8

// @ts-ignore: decorator
@inline
export function budgetOf(opcode: u32): u32 {
  return load<u8>(budgets + (<usize>opcode << 1))
}

// @ts-ignore: decorator
@inline
export function classOf(opcode: u32): u32 {
  return load<u8>(budgets + (<usize>opcode << 1), 1)
}

function allow(from: u32, to: u32, bytes: u32, kind: u32): void {
  for (let opcode = from; opcode <= to; opcode++) store<u16>(budgets + (<usize>opcode << 1), <u16>(bytes | (kind << 8)))
}

/** A block's head takes 10 bytes, an instruction 2, a short constant 4, other constants 10 or 34. */
function openBudgets(): void {
  allow(0, 255, 2, 0)
  allow(OP.ADD, OP.SUB, 2, folds)
  allow(OP.EXP, OP.EXP, 2, folds)
  allow(OP.LT, OP.GT, 2, folds)
  allow(OP.EQ, OP.EQ, 2, folds)
  allow(OP.ISZERO, OP.ISZERO, 2, inverts)
  allow(OP.AND, OP.XOR, 2, folds)
  allow(OP.SHL, OP.SHR, 2, folds)
  allow(OP.NOT, OP.NOT, 2, inverts)
  allow(OP.CODESIZE, OP.CODESIZE, 10, isPushed)
  allow(OP.SSTORE, OP.SSTORE, 6, 0)
  allow(OP.JUMP, OP.JUMP, 16, 0)
  allow(OP.JUMPI, OP.JUMPI, 12, jumpsIf)
  allow(OP.PC, OP.PC, 10, isPushed)
  allow(OP.GAS, OP.GAS, 6, 0)
  allow(OP.JUMPDEST, OP.JUMPDEST, 16, 0)
  allow(OP.PUSH0, OP.PUSH2, 4, isPushed)
  allow(OP.PUSH3, OP.PUSH8, 10, isPushed)
  allow(OP.PUSH9, OP.PUSH32, 34, isPushed)
  allow(OP.DUP1, OP.DUP16, 4, isPushed)
  allow(OP.CREATE, OP.SELFDESTRUCT, 14, 0)
}

// @ts-ignore: decorator
@inline
export function rowOf(opcode: u32): u32 {
  return load<u32>(table + (<usize>opcode << 2))
}

// @ts-ignore: decorator
@inline
export function gasOf(row: u32): u32 {
  return row & 0xffff
}

// @ts-ignore: decorator
@inline
export function takesOf(row: u32): i32 {
  return (row >> 16) & 0xff
}

// @ts-ignore: decorator
@inline
export function givesOf(row: u32): i32 {
  return row >>> 24
}

function set(opcode: u32, gas: u32, takes: u32, gives: u32): void {
  store<u32>(table + (<usize>opcode << 2), gas | (takes << 16) | (gives << 24))
}

function setAll(from: u32, to: u32, gas: u32, takes: u32, gives: u32): void {
  for (let opcode = from; opcode <= to; opcode++) set(opcode, gas, takes, gives)
}

/** Fills the table with the opcodes of a fork. Gas that depends on operands or warmth is charged where the opcode executes. */
export function openOpcodes(fork: u32): void {
  openBudgets()
  memory.fill(table, 0xff, 1024)
  set(OP.STOP, 0, 0, 0)
  setAll(OP.ADD, OP.SMOD, 5, 2, 1)
  set(OP.ADD, 3, 2, 1)
  set(OP.SUB, 3, 2, 1)
  setAll(OP.ADDMOD, OP.MULMOD, 8, 3, 1)
  set(OP.EXP, 10, 2, 1)
  set(OP.SIGNEXTEND, 5, 2, 1)
  setAll(OP.LT, OP.SAR, 3, 2, 1)
  set(OP.ISZERO, 3, 1, 1)
  set(OP.NOT, 3, 1, 1)
  set(OP.KECCAK256, 30, 2, 1)
  setAll(OP.ADDRESS, OP.EXTCODEHASH, 2, 0, 1)
  set(OP.BALANCE, 0, 1, 1)
  set(OP.CALLDATALOAD, 3, 1, 1)
  set(OP.CALLDATACOPY, 3, 3, 0)
  set(OP.CODECOPY, 3, 3, 0)
  set(OP.EXTCODESIZE, 0, 1, 1)
  set(OP.EXTCODECOPY, 0, 4, 0)
  set(OP.RETURNDATACOPY, 3, 3, 0)
  set(OP.EXTCODEHASH, 0, 1, 1)
  set(OP.BLOCKHASH, 20, 1, 1)
  setAll(OP.COINBASE, OP.BASEFEE, 2, 0, 1)
  set(OP.SELFBALANCE, 5, 0, 1)
  set(OP.POP, 2, 1, 0)
  set(OP.MLOAD, 3, 1, 1)
  setAll(OP.MSTORE, OP.MSTORE8, 3, 2, 0)
  set(OP.SLOAD, 0, 1, 1)
  set(OP.SSTORE, 0, 2, 0)
  set(OP.JUMP, 8, 1, 0)
  set(OP.JUMPI, 10, 2, 0)
  setAll(OP.PC, OP.GAS, 2, 0, 1)
  set(OP.JUMPDEST, 1, 0, 0)
  setAll(OP.PUSH1, OP.PUSH32, 3, 0, 1)
  for (let n: u32 = 1; n <= 16; n++) {
    set(OP.DUP1 + n - 1, 3, n, n + 1)
    set(OP.SWAP1 + n - 1, 3, n + 1, n + 1)
  }
  for (let n: u32 = 0; n <= 4; n++) set(OP.LOG0 + n, 375 + 375 * n, n + 2, 0)
  set(OP.CREATE, 32000, 3, 1)
  setAll(OP.CALL, OP.CALLCODE, 0, 7, 1)
  set(OP.RETURN, 0, 2, 0)
  set(OP.DELEGATECALL, 0, 6, 1)
  set(OP.CREATE2, 32000, 4, 1)
  set(OP.STATICCALL, 0, 6, 1)
  set(OP.REVERT, 0, 2, 0)
  set(OP.SELFDESTRUCT, 5000, 1, 0)
  if (fork >= forkShanghai) set(OP.PUSH0, 2, 0, 1)
  if (fork >= forkCancun) {
    set(OP.BLOBHASH, 3, 1, 1)
    set(OP.BLOBBASEFEE, 2, 0, 1)
    set(OP.TLOAD, 100, 1, 1)
    set(OP.TSTORE, 100, 2, 0)
    set(OP.MCOPY, 3, 3, 0)
  }
  if (fork >= forkOsaka) set(OP.CLZ, 5, 1, 1)
}
