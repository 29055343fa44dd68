import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { networkOf, proposalContractsOf } from '#chainspec/networks'
import { startAnvilL1 } from '#devnet/anvil'
import { bytesFromBigint } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { startAnchored } from '#node/anchoredStart'
import { startNode } from '#node/node'
import { createSnapshotTrust } from '#node/snapshotTrust'
import type { TrustPort } from '#snapshot/trustPort'
import { decodeBlock } from '#types/block'
import { type Hash, hashFromBytes, parseAddress } from '#types/ids'
import { devnetL1Options } from '../harness/l1/devnetL1.ts'
import { rpcCall } from '../harness/process/cliProcess.ts'
import { anyPort, nodeOptions } from '../harness/process/nodeOptions.ts'
import { serveRecordedChain } from '../harness/rpc/recordedNode.ts'
import { executeRecorded } from '../harness/snapshot/loadRecorded.ts'
import { outputRootOf } from '../harness/trust/l2Headers.ts'
import { type Proposal, proposalContracts } from '../harness/trust/proposals.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-anvil-anchored-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const name = 'op-ecotone-to-jovian'
/** Finalized block of the source, which is ahead of it. */
const number = 165
const finalizedEarlier = (async (url: string, init: RequestInit) =>
  fetch(url, { ...init, body: String(init.body).replaceAll('"finalized",', `"0x${number.toString(16)}",`) })) as typeof fetch
const word = (value: bigint): Hash => hashFromBytes(bytesFromBigint(value, 32))

// anvil builds the tries and the proofs of L1
it('node: an anchored start takes the finalized block when a proposal on L1 has a root after it, and refuses one that L1 contradicts', async () => {
  const { chain, kv } = await executeRecorded(name, 171)
  await using served = await serveRecordedChain(name, kv)
  const header = (at: number) => decodeBlock(chain.blocks[at]?.raw ?? expect.fail(`no block ${at}`)).header
  const createdSec = header(number).timestamp + 1_800
  // roots of every second block: the next one is that of a child
  const startBlock = number - 5
  const roots = { [number + 1]: outputRootOf(header(number + 1)) }
  const proposal: Proposal = { address: parseAddress(`0x${'61'.repeat(20)}`), startBlock, block: startBlock + 40, roots, createdSec }
  const onL1 = async (proposals: readonly Proposal[]) =>
    startAnvilL1(
      { fetch, clock: systemClock },
      {
        ...devnetL1Options,
        contracts: [...proposalContracts({ proposals, timestamp: createdSec + 3_600 })].map(([address, { code, slots }]) => ({
          ...{ address, code },
          storage: new Map([...slots].map(([slot, value]) => [word(slot), word(value)])),
        })),
      },
    )
  await using l1 = await onL1([proposal])
  await using other = await onL1([{ ...proposal, roots: {} }])
  const io = { fetch, clock: { ...systemClock, nowMs: () => devnetL1Options.genesisTimeSec * 1_000 }, random: () => 0, log: silentLog }
  const contracts = proposalContractsOf(networkOf('base').config) ?? expect.fail('no contracts')

  const trustIn = async ({ rpcUrl, chainId }: typeof l1, send = fetch) => {
    const { hash } = (await rpcCall(rpcUrl, 'eth_getBlockByNumber', ['0x0', false])) as { hash: Hash }
    const config = { ...chain.config, l1ChainId: chainId, genesis: { ...chain.config.genesis, l1: { number: 0, hash } } }
    // two names of one process: the hosts differ
    const l1Urls = [rpcUrl, rpcUrl.replace('127.0.0.1', 'localhost')]
    return createSnapshotTrust({ ...io, fetch: send }, { config, required: 'attested', l1Urls, l2Url: served.url, contracts })
  }
  const { signal } = new AbortController()
  const begin = async (trust: TrustPort, datadir: string) =>
    startAnchored(
      { ...io, fetch: finalizedEarlier, signal },
      { config: chain.config, datadir, trust, stateUrls: [served.url], l2Url: served.url },
    )
  for (const each of [l1, other]) for (let i = 0; i < 6; i++) await each.mine()

  const datadir = join(folder, 'attested')
  expect(await begin(await trustIn(l1), datadir)).toEqual({ number, hash: chain.blocks[number]?.hash, trust: 'attested' })
  const source = { url: served.url, hasProofs: false, maxAheadSec: 3_600 }
  const listen = { http: anyPort, metrics: anyPort }
  const node = await startNode(
    { ...io, clock: systemClock },
    nodeOptions({ datadir, mode: 'all', source, stateUrls: [served.url], listen }, chain),
  )
  await using _node = node
  const latest = await rpcCall(served.url, 'eth_blockNumber', [])
  await vi.waitFor(async () => expect(await rpcCall(node.urls.http ?? '', 'eth_blockNumber', [])).toBe(latest), 60_000)
  expect(await (await fetch(`${node.urls.metrics}/metrics`)).text()).toContain('basalt_trust_grade_info{grade="attested"} 1')

  // one of two endpoints is a whole L1 with a proposal that the other one lacks, or sends its proofs for the blocks of the other one
  const lying = (isLie: (body: string) => boolean) =>
    (async (url: string, init: RequestInit) => {
      const { hostname, port } = new URL(url)
      const isLiar = hostname === 'localhost' && port === new URL(other.rpcUrl).port && isLie(String(init.body))
      return fetch(isLiar ? l1.rpcUrl : url, init)
    }) as typeof fetch
  for (const [lies, reason, isLie] of [
    ['blocks', 'disagree on the finalized block', (body) => !body.includes('"0x0"') && !body.includes('eth_chainId')],
    ['proofs', 'has the output root', (body) => /eth_getProof|eth_getCode/.test(body)],
  ] as const satisfies readonly [string, string, (body: string) => boolean][]) {
    const lied = await trustIn(other, lying(isLie))
    const refused = expect(lied.verifyHeader(header(number), chain.blocks[number]?.hash ?? expect.fail(), signal)).rejects
    await refused.toMatchObject({ code: 'SNAPSHOT_UNTRUSTED', message: expect.stringContaining(reason) })
    await expect(begin(lied, join(folder, lies))).rejects.toMatchObject({ code: 'ANCHOR_TOO_OLD', data: { number: 0 } })
    expect(existsSync(join(folder, lies))).toBe(false)
  }

  // no block but genesis is left, and the rules of genesis do not allow fetched state
  await expect(begin(await trustIn(other), join(folder, 'refused'))).rejects.toMatchObject({ code: 'ANCHOR_TOO_OLD', data: { number: 0 } })
}, 180_000)
