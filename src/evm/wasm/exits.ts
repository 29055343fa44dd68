import { zeroHash } from '#types/ids'
import {
  accountCodeHash,
  ctxExitEntry,
  ctxExitFrom,
  ctxExitId,
  ctxExitSize,
  ctxGas,
  ctxReserve,
  exitAccount,
  exitBlockHash,
  exitCode,
  exitFuel,
  exitNewCode,
  exitPrecompile,
  exitSlot,
  exitTooLarge,
  gasOfSlice,
  ioBase,
  returnBase,
  returnEnd,
} from '../assembly/layout.ts'
import { evmFault } from '../faults.ts'
import type { InterruptCheck } from '../ports.ts'
import type { RulesTable } from './rulesTable.ts'
import type { World } from './world.ts'

function serveCode(world: World): void {
  const { exports, memory } = world.instance
  const at = memory.number(ctxExitEntry) + accountCodeHash
  const code = world.code(memory.hash(at))
  const to = exports.allocateCode(at, code.length)
  memory.u8.set(code, to)
  exports.finishCode()
  world.instance.codesLoaded++
}

/** Gas cost that no frame can pay. */
const moreGasThanAny = 2n ** 64n - 1n

function servePrecompile(world: World, table: RulesTable, interruptCheck: InterruptCheck | undefined): void {
  const { exports, memory } = world.instance
  const precompile = table.precompiles.get(memory.number(ctxExitId))
  if (!precompile) throw new RangeError(`no precompile at ${memory.number(ctxExitId)}`)
  const from = memory.number(ctxExitFrom)
  const input = memory.u8.subarray(from, from + memory.number(ctxExitSize))
  const cost = precompile.gas(input)
  if (cost > (memory.u64[ctxGas >>> 3] as bigint) + (memory.u64[ctxReserve >>> 3] as bigint)) {
    exports.endPrecompile(1, 0, moreGasThanAny)
    return
  }
  interruptCheck?.(Number(cost))
  const output = precompile.run(input)
  if (output === undefined) {
    exports.endPrecompile(0, 0, 0n)
    return
  }
  if (output.length > returnEnd - returnBase) throw evmFault('EVM_TOO_LARGE', {})
  memory.u8.set(output, returnBase)
  exports.endPrecompile(1, output.length, cost)
}

/**
 * Serves an exit: provides the data or action that the interpreter requested.
 * @throws exceptions of the view and of `interruptCheck`; the exit can then be served again
 */
export function serve(exit: number, world: World, table: RulesTable, interruptCheck: InterruptCheck | undefined): void {
  const { exports, memory } = world.instance
  switch (exit) {
    case exitAccount:
      world.loadAccount(memory.number(ctxExitEntry))
      return
    case exitSlot:
      world.loadSlot(memory.number(ctxExitEntry))
      return
    case exitCode:
      interruptCheck?.(0)
      serveCode(world)
      return
    case exitPrecompile:
      servePrecompile(world, table, interruptCheck)
      return
    case exitBlockHash:
      memory.setHex(ioBase, world.blockHash(memory.number(ctxExitId)) ?? zeroHash)
      exports.setBlockHash()
      return
    case exitFuel:
      interruptCheck?.(gasOfSlice)
      return
    case exitNewCode: {
      const entry = memory.number(ctxExitEntry)
      world.newCodes.set(memory.hash(entry + accountCodeHash), memory.bytes(memory.number(ctxExitFrom), memory.number(ctxExitSize)))
      return
    }
    case exitTooLarge:
      throw evmFault('EVM_TOO_LARGE', {})
    default:
      throw new RangeError(`exit ${exit} of the interpreter`)
  }
}
