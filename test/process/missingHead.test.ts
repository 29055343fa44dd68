import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { encodePayload } from '#engine/payloadJson'
import type { ExecutionWorker } from '#executionThread/executionThread'
import type { NodeOptions } from '#node/nodeOptions'
import { ask } from '#test/harness/engine/server'
import { extendChain, startChain } from '#test/harness/process/builtChain'
import { rpcCall } from '#test/harness/process/cliProcess'
import { zeroHash } from '#types/ids'
import { eventually } from '../../e2e/nodeProcess.ts'

const folder = mkdtempSync(join(tmpdir(), 'basalt-missing-head-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const blocks = 150
const peers = (...staticPeers: string[]): { executionPeers: NonNullable<NodeOptions['executionPeers']> } => ({
  executionPeers: {
    ...{ host: '127.0.0.1', port: 0, hasDiscovery: false, bootnodes: [], trustedPeers: [], maxPeers: 5 },
    staticPeers,
  },
})

it('process/missingHead: an execution half alone gets the blocks below a head that its consensus half names', async () => {
  await using full = await startChain(join(folder, 'full'), 'unfinalized', () => {}, peers())
  await extendChain(full, blocks, 'unfinalized', () => {})
  const { enode } = (await rpcCall(full.urls.http ?? '', 'admin_nodeInfo')) as { readonly enode: string }
  const head = (await (full.execution as ExecutionWorker).payload(blocks)) ?? expect.fail('no head')

  await using empty = await startChain(join(folder, 'empty'), 'unfinalized', () => {}, peers(enode))
  const { http = '', engine = '' } = empty.urls
  const named = { headBlockHash: head.blockHash, safeBlockHash: zeroHash, finalizedBlockHash: zeroHash }
  const statuses = new Set<unknown>()
  await eventually('the named head is there', 60_000, async () => {
    await ask(engine, 'engine_newPayloadV4', encodePayload(head), [], head.parentBeaconBlockRoot, [])
    const { payloadStatus } = (await ask(engine, 'engine_forkchoiceUpdatedV3', named, null)) as { payloadStatus: { status: string } }
    statuses.add(payloadStatus.status)
    return payloadStatus.status === 'VALID' || payloadStatus.status
  })
  expect([...statuses]).toEqual(['SYNCING', 'VALID'])
  expect(await rpcCall(http, 'eth_blockNumber')).toBe(`0x${blocks.toString(16)}`)
}, 120_000)
