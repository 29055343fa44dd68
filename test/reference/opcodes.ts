import { type EvmFork, type EvmRules, evmForks } from '#chainspec/evmRules'
import * as arithmetic from './arithmetic.ts'
import * as calls from './calls.ts'
import * as control from './control.ts'
import * as creation from './create.ts'
import * as environment from './environment.ts'
import { gas } from './gas.ts'
import { log } from './logs.ts'
import type { Operation, OperationTable } from './machine.ts'
import * as memory from './memory.ts'
import { type OldEvmFork, oldForkOf } from './oldForks.ts'
import { absentOpcodes, oldOpcodePrices, oldRulesOf } from './oldRules.ts'
import { oldSload, oldSstore } from './oldStorage.ts'
import * as storage from './storage.ts'

/** Opcode, implementation, static gas, words taken, words given. Dynamic gas is charged where the opcode executes. */
type Row = readonly [opcode: number, run: Operation, gas: number, takes: number, gives: number, since?: EvmFork]

const rows: readonly Row[] = [
  [0x00, control.stop, 0, 0, 0],
  [0x01, arithmetic.add, 3, 2, 1],
  [0x02, arithmetic.mul, 5, 2, 1],
  [0x03, arithmetic.sub, 3, 2, 1],
  [0x04, arithmetic.div, 5, 2, 1],
  [0x05, arithmetic.sdiv, 5, 2, 1],
  [0x06, arithmetic.mod, 5, 2, 1],
  [0x07, arithmetic.smod, 5, 2, 1],
  [0x08, arithmetic.addmod, 8, 3, 1],
  [0x09, arithmetic.mulmod, 8, 3, 1],
  [0x0a, arithmetic.exp, 10, 2, 1],
  [0x0b, arithmetic.signextend, 5, 2, 1],
  [0x10, arithmetic.lt, 3, 2, 1],
  [0x11, arithmetic.gt, 3, 2, 1],
  [0x12, arithmetic.slt, 3, 2, 1],
  [0x13, arithmetic.sgt, 3, 2, 1],
  [0x14, arithmetic.eq, 3, 2, 1],
  [0x15, arithmetic.iszero, 3, 1, 1],
  [0x16, arithmetic.and, 3, 2, 1],
  [0x17, arithmetic.or, 3, 2, 1],
  [0x18, arithmetic.xor, 3, 2, 1],
  [0x19, arithmetic.not, 3, 1, 1],
  [0x1a, arithmetic.byte, 3, 2, 1],
  [0x1b, arithmetic.shl, 3, 2, 1],
  [0x1c, arithmetic.shr, 3, 2, 1],
  [0x1d, arithmetic.sar, 3, 2, 1],
  [0x1e, arithmetic.clz, 5, 1, 1, 'osaka'],
  [0x20, environment.keccak, 30, 2, 1],
  [0x30, environment.address, 2, 0, 1],
  [0x31, environment.balance, 0, 1, 1],
  [0x32, environment.origin, 2, 0, 1],
  [0x33, environment.caller, 2, 0, 1],
  [0x34, environment.callvalue, 2, 0, 1],
  [0x35, environment.calldataload, 3, 1, 1],
  [0x36, environment.calldatasize, 2, 0, 1],
  [0x37, environment.calldatacopy, 3, 3, 0],
  [0x38, environment.codesize, 2, 0, 1],
  [0x39, environment.codecopy, 3, 3, 0],
  [0x3a, environment.gasprice, 2, 0, 1],
  [0x3b, environment.extcodesize, 0, 1, 1],
  [0x3c, environment.extcodecopy, 0, 4, 0],
  [0x3d, environment.returndatasize, 2, 0, 1],
  [0x3e, environment.returndatacopy, 3, 3, 0],
  [0x3f, environment.extcodehash, 0, 1, 1],
  [0x40, environment.blockhash, 20, 1, 1],
  [0x41, environment.ofBlock('beneficiary'), 2, 0, 1],
  [0x42, environment.ofBlock('timestamp'), 2, 0, 1],
  [0x43, environment.ofBlock('number'), 2, 0, 1],
  [0x44, environment.ofBlock('prevRandao'), 2, 0, 1],
  [0x45, environment.ofBlock('gasLimit'), 2, 0, 1],
  [0x46, environment.ofBlock('chainId'), 2, 0, 1],
  [0x47, environment.selfbalance, 5, 0, 1],
  [0x48, environment.ofBlock('baseFee'), 2, 0, 1],
  [0x49, environment.blobhash, 3, 1, 1, 'cancun'],
  [0x4a, environment.ofBlock('blobBaseFee'), 2, 0, 1, 'cancun'],
  [0x50, control.drop, 2, 1, 0],
  [0x51, memory.mload, 3, 1, 1],
  [0x52, memory.mstore, 3, 2, 0],
  [0x53, memory.mstore8, 3, 2, 0],
  [0x54, storage.sload, 0, 1, 1],
  [0x55, storage.sstore, 0, 2, 0],
  [0x56, control.jump, 8, 1, 0],
  [0x57, control.jumpi, 10, 2, 0],
  [0x58, control.pc, 2, 0, 1],
  [0x59, memory.msize, 2, 0, 1],
  [0x5a, control.gasLeft, 2, 0, 1],
  [0x5b, control.nothing, 1, 0, 0],
  [0x5c, storage.tload, gas.warm, 1, 1, 'cancun'],
  [0x5d, storage.tstore, gas.warm, 2, 0, 'cancun'],
  [0x5e, memory.mcopy, 3, 3, 0, 'cancun'],
  [0x5f, control.push0, 2, 0, 1, 'shanghai'],
  [0xf0, creation.create, gas.create, 3, 1],
  [0xf1, calls.call, 0, 7, 1],
  [0xf2, calls.callcode, 0, 7, 1],
  [0xf3, control.returnOutput, 0, 2, 0],
  [0xf4, calls.delegatecall, 0, 6, 1],
  [0xf5, creation.create2, gas.create, 4, 1],
  [0xfa, calls.staticcall, 0, 6, 1],
  [0xfd, control.revert, 0, 2, 0],
  [0xff, control.selfdestruct, 5_000, 1, 0],
  ...upTo(32, (n): Row => [0x5f + n, control.pushOf(n), 3, 0, 1]),
  ...upTo(16, (n): Row => [0x7f + n, control.dup(n), 3, n, n + 1]),
  ...upTo(16, (n): Row => [0x8f + n, control.swap(n), 3, n + 1, n + 1]),
  ...upTo(5, (n): Row => [0x9f + n, log(n - 1), gas.log + gas.logTopic * (n - 1), n + 1, 0]),
]

function upTo(count: number, row: (n: number) => Row): Row[] {
  return Array.from({ length: count }, (_, i) => row(i + 1))
}

const maxStack = 1_024

type Table = { readonly [K in keyof OperationTable]: OperationTable[K][number][] }

function createTable(fork: EvmFork): Table {
  const table: Table = {
    run: new Array<Operation>(256).fill(control.invalid),
    gas: new Array<number>(256).fill(0),
    atLeast: new Array<number>(256).fill(0),
    atMost: new Array<number>(256).fill(maxStack),
  }
  for (const [opcode, run, price, takes, gives, since] of rows) {
    if (since && evmForks.indexOf(fork) < evmForks.indexOf(since)) continue
    table.run[opcode] = run
    table.gas[opcode] = price
    table.atLeast[opcode] = takes
    table.atMost[opcode] = maxStack + takes - gives
  }
  return table
}

const tables = new Map<OldEvmFork | EvmFork, OperationTable>(evmForks.map((fork) => [fork, createTable(fork)]))

/** Creates the table of Paris without later opcodes, at the gas prices of these rules. */
function createOldTable(rules: EvmRules): OperationTable {
  const table = createTable(rules.fork)
  for (const opcode of absentOpcodes(rules)) {
    table.run[opcode] = control.invalid
    table.gas[opcode] = 0
    table.atLeast[opcode] = 0
    table.atMost[opcode] = maxStack
  }
  for (const [opcode, price] of oldOpcodePrices(rules)) if (table.run[opcode] !== control.invalid) table.gas[opcode] = price
  const old = oldRulesOf(rules)
  if (old && !old.hasWarmth) {
    table.run[0x54] = oldSload
    table.run[0x55] = oldSstore(old)
  }
  return table
}

/** Returns the opcode table of these rules. */
export function operationsOf(rules: EvmRules): OperationTable {
  const name = oldForkOf(rules) ?? rules.fork
  const table = tables.get(name) ?? createOldTable(rules)
  tables.set(name, table)
  return table
}
