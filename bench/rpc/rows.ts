import { dice } from '#test/harness/dice'
import type { Facts } from './facts.ts'

/** Request of a row: method and parameters. */
export type Asked = readonly [method: string, params: readonly unknown[]]

/** Random element of a list that is not empty. */
export type Pick = <T>(list: readonly T[]) => T

/**
 * Recording machines, with the requests a second of a bare `node:http` there. November's was not measured: the client answered ten kinds of requests
 * 1.44 to 2.32 times as fast there as on March's machine, in the median 1.61 times. Our own bench had 44,400 there on the same day.
 */
export const machines = { march: 23_500, november: 37_800 } as const
export type Machine = keyof typeof machines

/** One row: requests of one kind, and the figures of base-reth-node on the recording machine. */
export type BenchRow = {
  readonly name: string
  /** responses a second, and the 99th percentile of their times where it was recorded */
  readonly baseReth: { readonly perSec: number; readonly p99Ms?: number; readonly on: Machine }
  /** target of the factor */
  readonly goal: number
  readonly connections: 4 | 32
  /** Draws a request. */
  readonly draw: (facts: Facts, pick: Pick) => Asked
}

const hex = (number: number): string => `0x${number.toString(16)}`
const word = (address: string): string => address.slice(2).padStart(64, '0')
const balanceOf = (holder: string): string => `0x70a08231${word(holder)}`
const transfer = (receiver: string): string => `0xa9059cbb${word(receiver)}${word('0x5')}`
const callTracer = { tracer: 'callTracer' }
/** blocks of a search of logs by receiver, and of the long search by address */
const searched = { receiver: 60, address: 40 }

const blockOf = ({ blocks }: Facts, pick: Pick): string => hex(pick(blocks).number)
const transactionOf = ({ blocks }: Facts, pick: Pick): string => pick(pick(blocks).transactions.slice(1)) // the first one is a deposit

function logsOfToken(facts: Facts, pick: Pick, span: number): Asked {
  const from = pick(facts.blocks.slice(0, Math.max(1, facts.blocks.length - span + 1))).number
  return ['eth_getLogs', [{ address: facts.token, fromBlock: hex(from), toBlock: hex(Math.min(facts.head, from + span - 1)) }]]
}

/**
 * Figures of `november`: base-reth-node of May 2026, the same kinds of drawn requests. Figures of `march`: base-reth-node of March 2026, one repeated
 * request, the table of the data's README. Two cores, which the load generator shared.
 */
export const benchRows: readonly BenchRow[] = [
  { name: 'eth_blockNumber', baseReth: { perSec: 90_000, on: 'november' }, goal: 1, connections: 32, draw: () => ['eth_blockNumber', []] },
  { name: 'eth_chainId', baseReth: { perSec: 47_016, on: 'march' }, goal: 1, connections: 32, draw: () => ['eth_chainId', []] },
  {
    ...{ name: 'receipt', baseReth: { perSec: 4_200, p99Ms: 15, on: 'november' }, goal: 1, connections: 32 },
    draw: (facts, pick) => ['eth_getTransactionReceipt', [transactionOf(facts, pick)]],
  },
  {
    ...{ name: 'transaction by hash', baseReth: { perSec: 17_800, p99Ms: 4, on: 'november' }, goal: 1, connections: 32 },
    draw: (facts, pick) => ['eth_getTransactionByHash', [transactionOf(facts, pick)]],
  },
  {
    ...{ name: 'block with hashes', baseReth: { perSec: 9_600, on: 'march' }, goal: 1, connections: 32 },
    draw: (facts, pick) => ['eth_getBlockByNumber', [blockOf(facts, pick), false]],
  },
  {
    ...{ name: 'full block', baseReth: { perSec: 864, p99Ms: 8, on: 'november' }, goal: 1, connections: 4 },
    draw: (facts, pick) => ['eth_getBlockByNumber', [blockOf(facts, pick), true]],
  },
  {
    ...{ name: 'block receipts', baseReth: { perSec: 474, p99Ms: 14, on: 'november' }, goal: 1, connections: 4 },
    draw: (facts, pick) => ['eth_getBlockReceipts', [blockOf(facts, pick)]],
  },
  {
    ...{ name: 'balance', baseReth: { perSec: 43_000, p99Ms: 1.6, on: 'november' }, goal: 1, connections: 32 },
    draw: ({ receivers }, pick) => ['eth_getBalance', [pick(receivers), 'latest']],
  },
  {
    ...{ name: 'balance at an old block', baseReth: { perSec: 34_600, p99Ms: 2, on: 'november' }, goal: 1.2, connections: 32 },
    draw: (facts, pick) => ['eth_getBalance', [pick(facts.receivers), blockOf(facts, pick)]],
  },
  {
    ...{ name: 'call', baseReth: { perSec: 21_500, p99Ms: 3, on: 'november' }, goal: 1, connections: 32 },
    draw: ({ receivers, token }, pick) => ['eth_call', [{ to: token, data: balanceOf(pick(receivers)) }, 'latest']],
  },
  {
    ...{ name: 'call at an old block', baseReth: { perSec: 18_200, p99Ms: 4, on: 'november' }, goal: 1.2, connections: 32 },
    draw: (facts, pick) => ['eth_call', [{ to: facts.token, data: balanceOf(pick(facts.receivers)) }, blockOf(facts, pick)]],
  },
  {
    ...{ name: 'estimateGas of a token transfer', baseReth: { perSec: 18_700, p99Ms: 4, on: 'november' }, goal: 1, connections: 32 },
    draw: ({ receivers, token, holders }, pick) => [
      'eth_estimateGas',
      [{ from: holders[0], to: token, data: transfer(pick(receivers)) }, 'latest'],
    ],
  },
  {
    ...{ name: 'logs of a token in a block', baseReth: { perSec: 2_591, p99Ms: 20, on: 'november' }, goal: 1, connections: 32 },
    draw: (facts, pick) => logsOfToken(facts, pick, 1),
  },
  {
    ...{ name: 'logs of a token in 40 blocks', baseReth: { perSec: 37, on: 'march' }, goal: 1, connections: 4 },
    draw: (facts, pick) => logsOfToken(facts, pick, searched.address),
  },
  {
    ...{ name: 'logs of a receiver', baseReth: { perSec: 4_404, p99Ms: 3.2, on: 'november' }, goal: 1, connections: 4 },
    draw({ head, receivers }, pick): Asked {
      const topics = [null, null, `0x${word(pick(receivers))}`]
      return ['eth_getLogs', [{ fromBlock: hex(Math.max(1, head - searched.receiver)), toBlock: hex(head), topics }]]
    },
  },
  {
    ...{ name: 'proof', baseReth: { perSec: 8_800, p99Ms: 1.3, on: 'november' }, goal: 1, connections: 4 },
    draw: ({ receivers }, pick) => ['eth_getProof', [pick(receivers), [], 'latest']],
  },
  {
    ...{ name: 'proof at an old block', baseReth: { perSec: 35, p99Ms: 203, on: 'november' }, goal: 1.2, connections: 4 },
    draw: (facts, pick) => ['eth_getProof', [pick(facts.receivers), [], blockOf(facts, pick)]],
  },
  {
    ...{ name: 'callTracer', baseReth: { perSec: 97, p99Ms: 82, on: 'november' }, goal: 5, connections: 4 },
    draw: (facts, pick) => ['debug_traceTransaction', [transactionOf(facts, pick), callTracer]],
  },
  {
    ...{ name: 'witness', baseReth: { perSec: 11.7, p99Ms: 382, on: 'november' }, goal: 3, connections: 4 },
    draw: (facts, pick) => ['debug_executionWitness', [blockOf(facts, pick)]],
  },
]

/** Returns bodies of `count` requests of a row. The same seed draws the same requests. */
export function bodiesOf({ draw }: BenchRow, facts: Facts, seed: number, count: number): readonly string[] {
  const below = dice(seed)
  const pick: Pick = (list) => list[below(list.length)] as (typeof list)[number]
  return Array.from({ length: count }, (_, id) => {
    const [method, params] = draw(facts, pick)
    return JSON.stringify({ jsonrpc: '2.0', id, method, params })
  })
}
