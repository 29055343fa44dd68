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
  allow(0x01, 0x03, 2, folds)
  allow(0x0a, 0x0a, 2, folds)
  allow(0x10, 0x11, 2, folds)
  allow(0x14, 0x14, 2, folds)
  allow(0x15, 0x15, 2, inverts)
  allow(0x16, 0x18, 2, folds)
  allow(0x1b, 0x1c, 2, folds)
  allow(0x19, 0x19, 2, inverts)
  allow(0x38, 0x38, 10, isPushed)
  allow(0x55, 0x55, 6, 0)
  allow(0x56, 0x56, 16, 0)
  allow(0x57, 0x57, 12, jumpsIf)
  allow(0x58, 0x58, 10, isPushed)
  allow(0x5a, 0x5a, 6, 0)
  allow(0x5b, 0x5b, 16, 0)
  allow(0x5f, 0x61, 4, isPushed)
  allow(0x62, 0x67, 10, isPushed)
  allow(0x68, 0x7f, 34, isPushed)
  allow(0x80, 0x8f, 4, isPushed)
  allow(0xf0, 0xff, 14, 0)
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
  set(0x00, 0, 0, 0)
  setAll(0x01, 0x07, 5, 2, 1)
  set(0x01, 3, 2, 1)
  set(0x03, 3, 2, 1)
  setAll(0x08, 0x09, 8, 3, 1)
  set(0x0a, 10, 2, 1)
  set(0x0b, 5, 2, 1)
  setAll(0x10, 0x1d, 3, 2, 1)
  set(0x15, 3, 1, 1)
  set(0x19, 3, 1, 1)
  set(0x20, 30, 2, 1)
  setAll(0x30, 0x3f, 2, 0, 1)
  set(0x31, 0, 1, 1)
  set(0x35, 3, 1, 1)
  set(0x37, 3, 3, 0)
  set(0x39, 3, 3, 0)
  set(0x3b, 0, 1, 1)
  set(0x3c, 0, 4, 0)
  set(0x3e, 3, 3, 0)
  set(0x3f, 0, 1, 1)
  set(0x40, 20, 1, 1)
  setAll(0x41, 0x48, 2, 0, 1)
  set(0x47, 5, 0, 1)
  set(0x50, 2, 1, 0)
  set(0x51, 3, 1, 1)
  setAll(0x52, 0x53, 3, 2, 0)
  set(0x54, 0, 1, 1)
  set(0x55, 0, 2, 0)
  set(0x56, 8, 1, 0)
  set(0x57, 10, 2, 0)
  setAll(0x58, 0x5a, 2, 0, 1)
  set(0x5b, 1, 0, 0)
  setAll(0x60, 0x7f, 3, 0, 1)
  for (let n: u32 = 1; n <= 16; n++) {
    set(0x7f + n, 3, n, n + 1)
    set(0x8f + n, 3, n + 1, n + 1)
  }
  for (let n: u32 = 0; n <= 4; n++) set(0xa0 + n, 375 + 375 * n, n + 2, 0)
  set(0xf0, 32000, 3, 1)
  setAll(0xf1, 0xf2, 0, 7, 1)
  set(0xf3, 0, 2, 0)
  set(0xf4, 0, 6, 1)
  set(0xf5, 32000, 4, 1)
  set(0xfa, 0, 6, 1)
  set(0xfd, 0, 2, 0)
  set(0xff, 5000, 1, 0)
  if (fork >= forkShanghai) set(0x5f, 2, 0, 1)
  if (fork >= forkCancun) {
    set(0x49, 3, 1, 1)
    set(0x4a, 2, 0, 1)
    set(0x5c, 100, 1, 1)
    set(0x5d, 100, 2, 0)
    set(0x5e, 3, 3, 0)
  }
  if (fork >= forkOsaka) set(0x1e, 5, 1, 1)
}
