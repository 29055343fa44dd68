// A chain that a node builds itself, the same after each kill: blocks ten minutes apart, so that six are a segment, with 30 changed slots each.
import { randomBytes } from 'node:crypto'
import { l2RefOf } from '#chainspec/l2Ref'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { bytesFromBigint, concatBytes } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { type Log, silentLog } from '#lib/log'
import { type Node, startNode } from '#node/node'
import type { NodeOptions } from '#node/nodeOptions'
import type { L2Ref } from '#types/blockRef'
import { attributesAt, scheduleTo, signedBy, smallChain } from '../chain/blocks.ts'
import { followConfig } from '../consensus/follow.ts'
import { jwtSecret } from '../engine/server.ts'
import { testAccount, testAddress } from '../evm/sessions.ts'
import { anyPort, nodeOptions } from './nodeOptions.ts'

const schedule = scheduleTo('isthmus')
/** SSTORE(first word of the calldata, second word) */
const contract = testAddress(0x55)
const { genesis, config } = smallChain(schedule, [testAccount(contract, { nonce: 1n, code: '0x6020355f355500' })])
const rollup = { ...followConfig, ...config, genesis: { ...followConfig.genesis, ...config.genesis } }
const [slots, slotsPerBlock, secondsApart, blocksPerCall, unfinalized] = [2_000, 30, 600, 4, 10]
/** Finality moves by this many blocks, so that the removal of states takes several transactions. */
const finalizedAtOnce = 40
const word = (value: number): Uint8Array => bytesFromBigint(BigInt(value), 32)

/** `pruned`: 20 states, receipts of 300 blocks and bodies of 320 are kept. `kept`: all of them. `unfinalized`: no block is finalized. */
export type ChainMode = 'pruned' | 'kept' | 'unfinalized'

const retentions: Readonly<Record<ChainMode, Pick<NodeOptions, 'retention' | 'rows'>>> = {
  pruned: { retention: { history: { blocks: 20 } }, rows: { bodies: { blocks: 320 }, receipts: { blocks: 300 }, logs: { blocks: 30 } } },
  kept: {},
  unfinalized: {},
}

/** Starts an execution half on a data directory. @param onCommit called at both ends of each commit */
export function startChain(
  datadir: string,
  mode: ChainMode,
  onCommit: (phase: 'begin' | 'end') => void,
  changes: Partial<Pick<NodeOptions, 'retention' | 'proofs' | 'executionPeers'>> = {},
  log: Log = silentLog,
): Promise<Node> {
  return startNode(
    { clock: systemClock, random: Math.random, fetch, log, onCommit },
    nodeOptions(
      {
        mode: 'execution',
        datadir,
        jwtSecret: () => jwtSecret,
        listen: { http: { ...anyPort, api: ['eth', 'admin'] }, engine: anyPort },
        ...{ ...retentions[mode], ...changes },
      },
      { config: rollup, genesis: genesis as never },
    ),
  )
}

export type BlockTransactions = (number: number) => readonly Uint8Array[]

/** Returns transactions that write 30 slots. */
function slotWrites(number: number): Uint8Array[] {
  return Array.from({ length: slotsPerBlock }, (_, at) => {
    const count = (number - 1) * slotsPerBlock + at
    const data = concatBytes(word((count * 7) % slots), word(count + 1))
    return signedBy('alice', { nonce: BigInt(count), to: contract, gasLimit: 100_000n, data })
  })
}

/**
 * Builds blocks up to a number, and makes every fourth one the head.
 * @param onHead called when a head is acknowledged
 * @throws Fault of the execution half
 */
export async function extendChain(
  node: Node,
  last: number,
  mode: ChainMode,
  onHead: (head: L2Ref) => void,
  transactionsOf: BlockTransactions = slotWrites,
): Promise<void> {
  const execution = node.execution as ExecutionWorker
  const heads = await execution.heads()
  const refs = [heads.unsafe]
  const finalizedAt = async (number: number): Promise<L2Ref> => {
    if (mode === 'unfinalized' || number <= heads.finalized.number) return heads.finalized
    const payload = await execution.payload(number)
    if (payload === undefined) throw new Error(`no block ${number}`)
    return l2RefOf(rollup, payload)
  }
  for (let parent = heads.unsafe; parent.number < last; parent = refs.at(-1) ?? parent) {
    const number = parent.number + 1
    const built = await execution.build(parent, attributesAt(schedule, (number * secondsApart) / 2, transactionsOf(number)))
    if (built.kind === 'invalid') throw new Error(built.reason)
    const unsafe = l2RefOf(rollup, built.payload)
    refs.push(unsafe)
    if (number % blocksPerCall !== 0 && number !== last) continue
    const finalized = await finalizedAt(finalizedAtOnce * Math.floor(Math.max(0, number - unfinalized) / finalizedAtOnce))
    await execution.setHeads({ unsafe, safe: finalized, finalized })
    onHead(unsafe)
  }
}

/**
 * Replaces the last blocks by as many others and one more, and makes the last of them the head.
 * @param depth fewer than the blocks above the finalized one
 * @param branch makes the blocks differ from others with their numbers
 */
export async function replaceHead(node: Node, depth: number, branch: number): Promise<L2Ref> {
  const execution = node.execution as ExecutionWorker
  const heads = await execution.heads()
  const base = await execution.payload(heads.unsafe.number - depth)
  if (base === undefined) throw new Error(`no block ${heads.unsafe.number - depth}`)
  let unsafe = l2RefOf(rollup, base)
  while (unsafe.number <= heads.unsafe.number) {
    const number = unsafe.number + 1
    const built = await execution.build(unsafe, attributesAt(schedule, (number * secondsApart) / 2, slotWrites(number), branch))
    if (built.kind === 'invalid') throw new Error(built.reason)
    unsafe = l2RefOf(rollup, built.payload)
  }
  await execution.setHeads({ unsafe, safe: heads.finalized, finalized: heads.finalized })
  return unsafe
}

/** Makes a chain in a data directory, in a node that is stopped in the end. @returns its head */
export async function makeChain(
  datadir: string,
  mode: ChainMode,
  blocks: number,
  changes: Partial<Pick<NodeOptions, 'retention'>> = {},
): Promise<L2Ref> {
  await using node = await startChain(datadir, mode, () => {}, changes)
  await extendChain(node, blocks, mode, () => {})
  // finalized blocks move to segment files
  if (mode === 'kept') await systemClock.delay(4_000)
  return (node.execution as ExecutionWorker).published.heads.unsafe
}

/** Returns transactions with 600 kB of calldata that does not compress. */
export function largeCalldata(number: number): Uint8Array[] {
  return Array.from({ length: 6 }, (_, at) => {
    const nonce = (number - 1) * 6 + at
    return signedBy('alice', { nonce: BigInt(nonce), to: contract, gasLimit: 4_900_000n, data: randomBytes(100_000) })
  })
}
