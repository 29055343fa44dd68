import { emptyBytes } from '#lib/bytes'
import type { Hash } from '#types/ids'
import type { Log } from '#types/log'
import {
  ctxCreated,
  ctxEnded,
  ctxGas,
  ctxLogsTop,
  ctxMessageIsCreate,
  ctxRefund,
  ctxReserve,
  ctxReturnSize,
  endedRevert,
  endedSuccess,
  logAccount,
  logDataBytes,
  logHeadBytes,
  logsBase,
  logTopics,
  returnBase,
} from '../assembly/layout.ts'
import type { HaltReason, Outcome } from '../ports.ts'
import type { WasmMemory } from './wasmMemory.ts'
import type { World } from './world.ts'

/** Halt reasons in the order of `ended…`, from the first halt on. */
const haltReasons: readonly HaltReason[] = [
  'out of gas',
  'stack underflow',
  'stack overflow',
  'invalid jump',
  'invalid opcode',
  'write protection',
  'call depth',
  'insufficient balance',
  'address collision',
  'invalid code',
  'code size',
  'initcode size',
  'return data out of bounds',
  'nonce overflow',
  'precompile failure',
]

/** Converts an `ended…` number to the result of a message or frame. */
export function endOf(ended: number): 'success' | 'revert' | HaltReason {
  if (ended === endedSuccess) return 'success'
  return ended === endedRevert ? 'revert' : (haltReasons[ended - endedRevert - 1] ?? 'invalid opcode')
}

/** Returns the log records from an address on, which must be the start of a record. */
export function logsFrom(world: World, from: number): Log[] {
  const { memory } = world.instance
  const top = memory.number(ctxLogsTop)
  const logs: Log[] = []
  for (let at = from; at < top; ) {
    const topicCount = memory.number(at + logTopics)
    const size = memory.number(at + logDataBytes)
    const data = at + logHeadBytes + topicCount * 32
    const topics: Hash[] = []
    for (let topic = at + logHeadBytes; topic < data; topic += 32) topics.push(memory.hash(topic))
    logs.push({ address: world.addressOf(memory.number(at + logAccount)), topics, data: memory.bytes(data, size) })
    at = data + ((size + 7) & ~7)
  }
  return logs
}

const gasLeftOf = ({ u64 }: WasmMemory): bigint => (u64[ctxGas >>> 3] as bigint) + (u64[ctxReserve >>> 3] as bigint)

/** Returns the outcome of the message that has just ended. */
export function outcomeOf(world: World): Outcome {
  const { memory } = world.instance
  const ended = memory.number(ctxEnded)
  const gasLeft = gasLeftOf(memory)
  const end = endOf(ended)
  if (end !== 'success' && end !== 'revert') return { kind: 'halt', reason: end, gasLeft, gasRefund: 0n, output: emptyBytes }
  const size = memory.number(ctxReturnSize)
  const output = size === 0 ? emptyBytes : memory.bytes(returnBase, size)
  if (end === 'revert') return { kind: 'revert', gasLeft, gasRefund: 0n, output }
  const gasRefund = BigInt.asIntN(64, memory.u64[ctxRefund >>> 3] as bigint)
  const logs = logsFrom(world, logsBase)
  if (memory.number(ctxMessageIsCreate) === 0) return { kind: 'success', gasLeft, gasRefund, output, logs }
  return { kind: 'success', gasLeft, gasRefund, output, logs, created: world.addressOf(memory.number(ctxCreated)) }
}
