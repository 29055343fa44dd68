import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { l2RefOf } from '#chainspec/l2Ref'
import type { ExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { accountOf, attributesAt, scheduleTo, signedBy, smallChain } from '#test/harness/chain/blocks'
import { followConfig } from '#test/harness/consensus/follow'
import { rpcCall } from '#test/harness/process/cliProcess'
import { anyPort, nodeOptions } from '#test/harness/process/nodeOptions'
import type { L2Ref } from '#types/blockRef'
import type { Retention } from '#types/chainDistance'
import { type Node, startNode } from './node.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-retention-'))
afterAll(() => rmSync(base, { recursive: true }))

const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)
const rollup = { ...followConfig, ...config, genesis: { ...followConfig.genesis, ...config.genesis } }
const deps = { clock: systemClock, random: () => 0, fetch, log: silentLog }

function start(name: string, retention: Retention): Promise<Node> {
  const listen = { http: anyPort, engine: anyPort, metrics: anyPort }
  const jwtSecret = () => new Uint8Array(32).fill(7)
  return startNode(
    deps,
    nodeOptions(
      { mode: 'execution', datadir: join(base, name), jwtSecret, listen, retention },
      { config: rollup, genesis: genesis as never },
    ),
  )
}

/** Adds blocks with a transfer each, and finalizes all but ten. @param secondsApart time between them */
async function extend(node: Node, count: number, secondsApart = 2): Promise<void> {
  const execution = node.execution as ExecutionWorker
  const refs: L2Ref[] = [(await execution.heads()).unsafe]
  for (let i = 0; i < count; i++) {
    const { number } = refs.at(-1) as L2Ref
    const transfer = signedBy('alice', { nonce: BigInt(number), value: 1n, to: accountOf('carol') })
    const built = await execution.build(refs.at(-1) as L2Ref, attributesAt(schedule, ((number + 1) * secondsApart) / 2, [transfer]))
    if (built.kind === 'invalid') throw new Error(built.reason)
    refs.push(l2RefOf(config, built.payload))
  }
  const finalized = refs.at(-11) as L2Ref
  await execution.setHeads({ unsafe: refs.at(-1) as L2Ref, safe: finalized, finalized })
}

function oldest({ execution }: Node): { state: number; proof: number } {
  using view = execution?.view()
  return { state: view?.oldestState ?? -1, proof: view?.oldestProof ?? -1 }
}
const becomes = (node: Node, expected: { state: number; proof: number }): Promise<void> =>
  vi.waitFor(() => expect(oldest(node)).toEqual(expected), 20_000)

const hex = (number: number): string => `0x${number.toString(16)}`
const carol = accountOf('carol')
/** @param latest absent: the error does not name it */
function pruned(what: string, number: number, latest?: number): string {
  const [text, data] = latest === undefined ? ['', ''] : [`, the latest ${latest}`, `,"latestBlock":"${hex(latest)}"`]
  return `{"code":4444,"message":"pruned history unavailable: the oldest block with ${what} is ${number}${text}","data":{"oldestBlock":"${hex(number)}"${data}}}`
}

it('node: removes states beyond --retain.history 50b, answers for the others, and keeps the oldest state over a restart with a longer one', async () => {
  {
    await using node = await start('blocks', { history: { blocks: 50 } })
    const { http = '', metrics = '' } = node.urls
    await extend(node, 120)
    await becomes(node, { state: 70, proof: 70 })
    const ask = (method: string, ...params: unknown[]): Promise<unknown> => rpcCall(http, method, params)
    expect(await ask('eth_getBalance', carol, hex(70))).toBe(hex(70))
    expect(await ask('eth_getProof', carol, [], hex(70))).toMatchObject({ balance: hex(70) })
    expect(await ask('eth_capabilities')).toMatchObject({ state: { oldestBlock: hex(70) }, stateproofs: { oldestBlock: hex(70) } })
    const refused: readonly [string, ...unknown[]][] = [
      ['eth_getBalance', carol, hex(69)],
      ['eth_call', { to: carol }, hex(69)],
      ['eth_estimateGas', { to: carol }, hex(69)],
      ['eth_getProof', carol, [], hex(69)],
      ['debug_traceBlockByNumber', hex(70)],
      ['debug_executionWitness', hex(70)],
      ['eth_simulateV1', { blockStateCalls: [{}] }, hex(69)],
    ]
    for (const [method, ...params] of refused) await expect(ask(method, ...params)).rejects.toThrow(pruned('state', 70, 120))
    expect(await ask('eth_getBlockByNumber', hex(1), true)).toMatchObject({ number: '0x1' })
    // the execution thread sends its metrics from time to time
    await vi.waitFor(async () => {
      const page = await (await fetch(`${metrics}/metrics`)).text()
      expect(page).toMatch(/^basalt_execution_oldest_state_block_number 70$/m)
      expect(page).toMatch(/^basalt_execution_oldest_proof_block_number 70$/m)
      expect(page).toMatch(/^basalt_execution_pruned_blocks_total 70$/m)
      expect(page).toMatch(/^basalt_execution_prune_step_seconds_count [1-9]/m)
    }, 20_000)
  }
  {
    await using node = await start('blocks', { history: 'all' })
    await extend(node, 20)
    await systemClock.delay(2_500)
    expect(oldest(node)).toEqual({ state: 70, proof: 70 })
  }
  await using node = await start('blocks', { history: { blocks: 30 } })
  await extend(node, 20)
  await becomes(node, { state: 130, proof: 130 })
})

it('node: serves states beyond an hour without proofs by default, and with them for --rpc.eth-proof-window', async () => {
  {
    // two minutes between blocks: 30 blocks an hour
    await using node = await start('proofs', { history: 'all', proofs: { blocks: 60 } })
    await extend(node, 100, 120)
    await becomes(node, { state: 0, proof: 40 })
  }
  await using node = await start('proofs', { history: 'all' })
  const { http = '' } = node.urls
  const ask = (method: string, ...params: unknown[]): Promise<unknown> => rpcCall(http, method, params)
  await extend(node, 20, 120)
  await becomes(node, { state: 0, proof: 90 })
  expect(await ask('eth_getProof', carol, [], hex(90))).toMatchObject({ balance: hex(90) })
  expect(await ask('eth_getBalance', carol, hex(5))).toBe(hex(5))
  expect(await ask('eth_call', { to: carol }, hex(5))).toBe('0x')
  expect(await ask('debug_traceBlockByNumber', hex(6), {})).toHaveLength(2)
  expect(await ask('eth_capabilities')).toMatchObject({ state: { oldestBlock: '0x0' }, stateproofs: { oldestBlock: hex(90) } })
  await expect(ask('eth_getProof', carol, [], hex(89))).rejects.toThrow(pruned('trie nodes', 90))
  await expect(ask('debug_executionWitness', hex(90))).rejects.toThrow(pruned('trie nodes', 90))
  expect(await ask('debug_executionWitness', hex(91))).toMatchObject({ state: expect.any(Array) })
})
