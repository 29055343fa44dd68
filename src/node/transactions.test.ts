import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isError, JsonRpcProvider } from 'ethers'
import { createPublicClient, http, keccak256, webSocket } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, it, vi } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import { anyPort, nodeOptions } from '#test/harness/process/nodeOptions'
import { type Node, startNode } from './node.ts'
import type { NodeOptions } from './nodeOptions.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-transactions-'))
afterAll(() => rmSync(base, { recursive: true }))

const chain = readRecordedChain('op-bedrock-to-holocene')
const deps = { clock: systemClock, random: () => 0, fetch, log: silentLog }
const jwtSecret = () => new Uint8Array(32).fill(7)
let dirs = 0

function start(changes: Partial<NodeOptions> = {}): Promise<Node> {
  const listen = { http: anyPort, ws: anyPort, engine: anyPort }
  return startNode(deps, nodeOptions({ mode: 'execution', datadir: join(base, String(dirs++)), jwtSecret, listen, ...changes }, chain))
}
const clientOf = ({ urls }: Node) => createPublicClient({ transport: http(urls.http, { retryCount: 0 }) })

/** An account with funds in the genesis of the recorded chain: the second one of the usual test mnemonic. */
const rich = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const sign = (nonce: number) =>
  rich.signTransaction({
    ...{ type: 'eip1559', chainId: chain.config.l2ChainId, nonce, gas: 21_000n, to: rich.address, value: 1n },
    ...{ maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000n },
  })

it('node/transactions: keeps a sent transaction in the pool, visible to every method and server of the node', async () => {
  await using node = await start()
  const client = clientOf(node)
  const socket = createPublicClient({ transport: webSocket(node.urls.ws ?? '', { reconnect: false }) })
  const told: string[] = []
  const stop = socket.watchPendingTransactions({ onTransactions: (hashes) => told.push(...hashes) })
  await socket.getChainId()
  await socket.getChainId()

  const filter = await client.createPendingTransactionFilter()
  const raws = await Promise.all([0, 1, 5].map(sign))
  const hashes = await Promise.all(raws.map((serializedTransaction) => client.sendRawTransaction({ serializedTransaction })))
  expect(hashes).toEqual(raws.map((raw) => keccak256(raw)))
  expect(await client.request({ method: 'txpool_status' as never })).toEqual({ pending: '0x2', queued: '0x1' })
  const nonceAt = (blockTag: 'latest' | 'pending') => client.getTransactionCount({ address: rich.address, blockTag })
  expect([await nonceAt('latest'), await nonceAt('pending')]).toEqual([0, 2])
  expect(await client.getTransaction({ hash: hashes[0] ?? '0x' })).toMatchObject({ blockNumber: null, nonce: 0, value: 1n })
  expect(await client.getFilterChanges({ filter })).toEqual(hashes)
  await vi.waitFor(() => expect(told).toEqual(hashes))
  stop()
  ;(await socket.transport.getRpcClient()).close()

  const again = client.sendRawTransaction({ serializedTransaction: raws[0] ?? '0x' })
  await expect(again).rejects.toThrow('already known')
})

it('node/transactions: forwards transactions to a sequencer, returns its refusals, and knows taken ones locally', async () => {
  await using sequencer = await start()
  await using node = await start({ sequencerUrl: sequencer.urls.http ?? '' })
  const [there, here] = [clientOf(sequencer), clientOf(node)]
  const serializedTransaction = await sign(0)
  const hash = await here.sendRawTransaction({ serializedTransaction })
  for (const client of [there, here]) {
    expect(await client.getTransaction({ hash })).toMatchObject({ hash, blockNumber: null })
    expect(await client.getTransactionCount({ address: rich.address, blockTag: 'pending' })).toBe(1)
  }
  await expect(here.sendRawTransaction({ serializedTransaction })).rejects.toMatchObject({
    cause: { code: -32000, details: 'already known' },
  })
  await expect(here.sendRawTransaction({ serializedTransaction: '0x1234' })).rejects.toThrow('failed to decode signed transaction')
})

type Refusal = { readonly status: number; readonly headers: Record<string, string>; readonly error: object }

/** A sequencer that answers every request with `refusal`. */
async function refusingSequencer(refusal: Refusal): Promise<AsyncDisposable & { readonly url: string; refusal: Refusal }> {
  const server = createServer((request, response) => {
    const { status, headers, error } = served.refusal
    request.resume().on('end', () => response.writeHead(status, headers).end(JSON.stringify({ jsonrpc: '2.0', id: 1, error })))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const served = {
    url: `http://127.0.0.1:${port}`,
    refusal,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
  return served
}

it('node/transactions: gives ethers "nonce has already been used" with a hint that the node is not synced; passes a 429 on', async () => {
  await using sequencer = await refusingSequencer({
    ...{ status: 200, headers: {}, error: { code: -32000, message: 'nonce too low: next nonce 9, tx nonce 0' } },
  })
  await using node = await start({ sequencerUrl: sequencer.url })
  const provider = new JsonRpcProvider(node.urls.http, chain.config.l2ChainId, { staticNetwork: true, batchMaxCount: 1 })
  expect(await provider.send('eth_syncing', [])).not.toBe(false)
  const raw = await sign(0)
  const error: unknown = await provider.broadcastTransaction(raw).catch((reason: unknown) => reason)
  provider.destroy()
  expect(isError(error, 'NONCE_EXPIRED') && error.shortMessage).toBe('nonce has already been used')
  expect(error).toMatchObject({ info: { error: { code: -32000, data: { hint: expect.stringContaining('not synced yet') } } } })
  const status = await clientOf(node).request({ method: 'base_transactionStatus' as never, params: [keccak256(raw)] as never })
  expect(status).toMatchObject({ status: 'Unknown', detail: { state: 'refused', tries: 1, error: { code: -32000 } } })

  sequencer.refusal = { status: 429, headers: { 'retry-after': '30' }, error: {} }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [raw] })
  const limited = await fetch(node.urls.http ?? '', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '30'])
  expect(await limited.json()).toMatchObject({ error: { code: -32016, message: 'over rate limit', data: { retryAfterMs: 30_000 } } })
})

it('node/transactions: times out eth_sendRawTransactionSync when no block arrives, and reports the state of the transaction', async () => {
  await using node = await start()
  const raw = await sign(0)
  const error: unknown = await clientOf(node)
    .request({ method: 'eth_sendRawTransactionSync' as never, params: [raw, 50] as never })
    .catch((reason) => reason)
  const data = { hash: keccak256(raw), status: { state: 'pending' } }
  expect(error).toMatchObject({ cause: { code: 4, data } })
})

it('node/transactions: accepts pages of any origin where cors is on, and none elsewhere', async () => {
  await using open = await start({ listen: { http: { ...anyPort, cors: true }, engine: anyPort } })
  await using shut = await start()
  const preflight = async ({ urls }: Node): Promise<readonly [number, string | null]> => {
    const headers = { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' }
    const response = await fetch(urls.http ?? '', { method: 'OPTIONS', headers })
    return [response.status, response.headers.get('access-control-allow-origin')]
  }
  expect([await preflight(open), await preflight(shut)]).toEqual([
    [204, '*'],
    [405, null],
  ])
})
