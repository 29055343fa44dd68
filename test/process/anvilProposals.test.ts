import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { networkOf } from '#chainspec/networks'
import type { RollupConfig } from '#chainspec/rollupConfig'
import { startAnvilL1 } from '#devnet/anvil'
import { createL1Source, defaultL1Options } from '#l1/l1Source'
import { l1Metrics } from '#l1/metrics'
import { bytesFromBigint } from '#lib/bytes'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { createSnapshotTrust } from '#node/snapshotTrust'
import { trustMetrics } from '#trust/metrics'
import { createTrust } from '#trust/trust'
import { type Header, hashHeader } from '#types/header'
import { headerToJson } from '#types/headerJson'
import { type Hash, hashFromBytes, parseAddress } from '#types/ids'
import { devnetL1Options } from '../harness/l1/devnetL1.ts'
import { rpcCall } from '../harness/process/cliProcess.ts'
import { l2Headers, outputRootOf } from '../harness/trust/l2Headers.ts'
import { type Proposal, proposalContracts } from '../harness/trust/proposals.ts'

/** A node that answers with headers of blocks without transactions. */
async function serveHeaders(config: RollupConfig, headers: readonly Header[]): Promise<{ readonly url: string } & AsyncDisposable> {
  const answer = ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }): unknown => {
    if (method === 'eth_chainId') return `0x${config.l2ChainId.toString(16)}`
    const header = headers.find(({ number }) => number === Number(params[0]))
    if (header === undefined) return null
    return { ...headerToJson(hashHeader(header), header), transactions: [], uncles: [], withdrawals: [] }
  }
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    const answers = [body].flat().map((call) => ({ jsonrpc: '2.0', id: call.id, result: answer(call) }))
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const word = (value: bigint) => hashFromBytes(bytesFromBigint(value, 32))

// anvil builds the tries and the proofs: another implementation than the one that verifies them
it('trust/trust: reads a proposal by the proofs of anvil at its finalized block, and finds none for another root', async () => {
  const { genesisTimeSec } = devnetL1Options
  const timestamp = 1_796_000_000
  const headers = l2Headers(60_000_590, 60_000_600, timestamp - 10_000)
  const [first, last] = [headers[0] ?? expect.fail(), headers.at(-1) ?? expect.fail()]
  const proposal: Proposal = {
    ...{ address: parseAddress(`0x${'61'.repeat(20)}`), startBlock: 60_000_000, block: 60_006_000 },
    roots: { 60000600: outputRootOf(last) },
  }
  const others = Array.from({ length: 40 }, (_, i): Proposal => {
    const address = parseAddress(`0x${(i + 1).toString(16).padStart(40, '0')}`)
    return { address, startBlock: 6_000 * i, block: 6_000 * (i + 1), roots: {}, createdSec: timestamp - 100_000 + i }
  })
  const contracts = proposalContracts({ proposals: [...others, proposal], timestamp })
  await using l1 = await startAnvilL1(
    { fetch, clock: systemClock },
    {
      ...devnetL1Options,
      contracts: [...contracts].map(([address, { code, slots }]) => ({
        ...{ address, code },
        storage: new Map([...slots].map(([slot, value]) => [word(slot), word(value)])),
      })),
    },
  )
  for (let i = 0; i < 6; i++) await l1.mine()
  // two names of one process: the hosts differ
  const urls = [l1.rpcUrl, l1.rpcUrl.replace('127.0.0.1', 'localhost')]
  using source = createL1Source(
    { fetch, clock: systemClock, random: () => 0, log: silentLog, metrics: l1Metrics.register(new Registry()) },
    { ...defaultL1Options, rpcUrls: urls, beaconUrls: [], chainId: l1.chainId },
  )
  const trust = createTrust(
    {
      ...{ witnesses: source.witnesses, log: silentLog, metrics: trustMetrics.register(new Registry()) },
      clock: { nowMs: () => genesisTimeSec * 1_000 },
    },
    { config: networkOf('base').config, required: 'attested' },
  )
  const { signal } = new AbortController()
  const links = async () => headers.slice(1)
  expect(await trust.verifyHeader(first, links, signal)).toMatchObject({
    kind: 'trusted',
    record: { grade: 'attested', game: proposal.address, l1: { number: 2 } },
  })
  const otherHeaders = l2Headers(60_000_600, 60_000_600, first.timestamp)
  const other = otherHeaders[0] ?? expect.fail()
  expect(await trust.verifyHeader(other, links, signal)).toMatchObject({ kind: 'refused' })

  // before a snapshot is loaded
  const { config } = networkOf('base')
  const { hash } = (await rpcCall(l1.rpcUrl, 'eth_getBlockByNumber', ['0x0', false])) as { hash: Hash }
  const onAnvil = { ...config, l1ChainId: l1.chainId, genesis: { ...config.genesis, l1: { number: 0, hash } } }
  const deps = { fetch, clock: { ...systemClock, nowMs: () => genesisTimeSec * 1_000 }, random: () => 0, log: silentLog }
  const port = createSnapshotTrust(deps, { config: onAnvil, required: 'attested', l1Urls: urls })
  expect(await port.verifyHeader(last, hashHeader(last), signal)).toMatchObject({
    grade: 'attested',
    game: proposal.address,
    l1: { number: 2 },
  })
  await expect(port.verifyHeader(other, hashHeader(other), signal)).rejects.toMatchObject({ code: 'SNAPSHOT_UNTRUSTED' })
  // the headers after the block come from a node of the chain, and are linked by their hashes
  const following = (served: readonly Header[]) => serveHeaders(onAnvil, served)
  await using node = await following(headers)
  const linked = createSnapshotTrust(deps, { config: onAnvil, required: 'attested', l1Urls: urls, l2Url: node.url })
  expect(await linked.verifyHeader(first, hashHeader(first), signal)).toMatchObject({ grade: 'attested', game: proposal.address })
  await expect(port.verifyHeader(first, hashHeader(first), signal)).rejects.toThrow('are missing')
  await using liar = await following([first, ...l2Headers(first.number + 1, last.number, first.timestamp)])
  const lied = createSnapshotTrust(deps, { config: onAnvil, required: 'attested', l1Urls: urls, l2Url: liar.url })
  await expect(lied.verifyHeader(first, hashHeader(first), signal)).rejects.toThrow('no child of block')
  const one = createSnapshotTrust(deps, { config: onAnvil, required: 'attested', l1Urls: urls.slice(0, 1) })
  await expect(one.verifyHeader(last, hashHeader(last), signal)).rejects.toThrow('two of different hosts must agree')
})
