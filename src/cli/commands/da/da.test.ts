import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { encodeBlob } from '#derive/codec/blob'
import { encodeFrames } from '#derive/codec/frame'
import { systemClock } from '#lib/clock'
import { toHex } from '#lib/hex'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ScriptedServer, serveNode } from '#test/harness/process/nodeServer'
import { runCli } from '../../run.ts'
import type { DaFacts } from './daFacts.ts'

const quantity = (value: number | bigint): string => `0x${value.toString(16)}`
const inbox = `0xff${'00'.repeat(18)}01`
const batcher = `0x${'ba'.repeat(20)}`
const other = `0x${'0c'.repeat(20)}`
const channel = `0x${'01'.repeat(16)}` as const
const frames = (number: number, isLast: boolean): string =>
  toHex(encodeFrames([{ channelId: channel, number, data: new Uint8Array(100), isLast }]))

type Sent = { readonly from: string; readonly input: string; readonly blobs?: number; readonly to?: string }
/** Transactions of the L1 blocks 100 to 103, one every 12 seconds from 1,200,000 s on. */
const l1Blocks: readonly (readonly Sent[])[] = [
  [{ from: batcher, input: frames(0, false) }],
  [
    { from: other, input: '0x00' },
    { from: batcher, input: '0x', to: other },
  ],
  [{ from: batcher, input: frames(1, true) }],
  [{ from: batcher, input: '0x', blobs: 3 }],
]
const hashOf = (block: number, at: number): string => `0x${block.toString(16).padStart(32, '0')}${at.toString(16).padStart(32, '0')}`
const commitment = (blob: number): string => toHex(new Uint8Array(48).fill(blob + 1))
const versionedHash = (blob: number): string =>
  `0x01${createHash('sha256')
    .update(Buffer.from(commitment(blob).slice(2), 'hex'))
    .digest('hex')
    .slice(2)}`
const blockOf = (number: number) => ({
  number: quantity(number),
  timestamp: quantity(1_200_000 + (number - 100) * 12),
  transactions: (l1Blocks[number - 100] ?? []).map(({ from, input, blobs = 0, to = inbox }, at) => ({
    ...{ hash: hashOf(number, at), from, to, input },
    ...(blobs > 0 && { blobVersionedHashes: Array.from({ length: blobs }, (_none, blob) => versionedHash(blob)) }),
  })),
})
const l1: NonNullable<ScriptedServer['rpc']> = {
  eth_getBlockByNumber: ([at]) => ({ result: blockOf(at === 'latest' ? 103 : Number(at)) }),
  eth_getTransactionReceipt: ([hash]) => ({
    result: {
      ...{ status: '0x1', gasUsed: quantity(50_000), effectiveGasPrice: quantity(2_000_000_000) },
      ...(hash === hashOf(103, 0) && { blobGasUsed: quantity(393_216), blobGasPrice: quantity(10) }),
    },
  }),
}
/** L1 block n makes the L2 blocks to 60 × (n − 98) safe; L2 blocks are 0.2 s apart and 500 bytes long. */
const node: NonNullable<ScriptedServer['rpc']> = {
  optimism_rollupConfig: { result: { batch_inbox_address: inbox, genesis: { system_config: { batcherAddr: batcher } } } },
  optimism_safeHeadAtL1Block: ([at]) => ({ result: { safeHead: { number: 60 * (Number(at) - 98) } } }),
  eth_getBlockByNumber: ([at]) =>
    at === 'safe'
      ? { result: { transactions: [] } }
      : { result: { number: at, timestampMs: quantity(1_199_960_000 + Number(at) * 200), timestamp: '0x0', size: quantity(500) } },
}

const otherChannel = `0x${'02'.repeat(16)}` as const
const blobFrames = (number: number): Uint8Array =>
  encodeFrames([{ channelId: otherChannel, number, data: new Uint8Array(5_000), isLast: number === 2 }])
const blobs = [0, 1, 2].map((number) => toHex(encodeBlob(blobFrames(number))))
/** Beacon API of these blocks: 12 s slots from 1,199,688 s on. */
const times = {
  '/eth/v1/beacon/genesis': { body: JSON.stringify({ data: { genesis_time: '1199688' } }) },
  '/eth/v1/config/spec': { body: JSON.stringify({ data: { SECONDS_PER_SLOT: '12' } }) },
}
const slot = (1_200_036 - 1_199_688) / 12
const newPath = `/eth/v1/beacon/blobs/${slot}?versioned_hashes=${[0, 1, 2].map(versionedHash).join(',')}`
const sidecars = (...numbers: readonly number[]): string =>
  JSON.stringify({ data: numbers.map((number) => ({ index: String(number), blob: blobs[number], kzg_commitment: commitment(number) })) })

async function run(args: readonly string[], servers: { node?: ScriptedServer; l1?: ScriptedServer } = {}) {
  await using chain = await serveNode(servers.node ?? { rpc: node })
  await using layer1 = await serveNode(servers.l1 ?? { rpc: l1 })
  const io = scriptedIo({ clock: systemClock })
  const addresses = ['--url', chain.url, '--metrics-url', chain.url, '--l1.rpc', `${layer1.url}/k3y-of-account`]
  const code = await runCli(['da', ...addresses, ...args], io)
  return { code, ...io.written }
}

it('cli/commands/da: counts transactions of the batcher, their channels, fees and delays', async () => {
  const { code, out, err } = await run(['--blocks', '4', '--json'])
  const facts = JSON.parse(out) as DaFacts
  expect([code, err]).toEqual([0, ''])
  expect(facts).toMatchObject({
    ...{ inbox, batcher, l1: { from: 100, to: 103, sec: 36 } },
    transactions: { count: 3, failed: 0, withCalldata: 2, withBlobs: 1, blobs: 3, calldataBytes: 248, fromOthers: 1 },
    intervalSec: { least: 12, median: 24, most: 24 },
    channels: { seen: 1, closed: 1, frames: 2, malformed: 0 },
    fees: { executionWei: '300000000000000', blobWei: '3932160', totalWei: '300000003932160' },
    l2: { from: 61, to: 300, blocks: 240, bytes: 120_000, measured: 240 },
  })
  expect(facts.weiPerL2Byte).toBeCloseTo(300_000_003_932_160 / 120_000, 0)
  // the oldest block of the first batch is of 1,199,972.2 s, the newest of 1,199,984 s
  expect(facts.delaySec?.most).toBeCloseTo(27.8, 3)
  expect(facts.delaySec?.least).toBeCloseTo(16, 3)
})

it('cli/commands/da: prints aligned lines for a person', async () => {
  const { out } = await run(['--blocks', '4'])
  expect(out).toBe(`\
L1 blocks  100 to 103, 36 s
inbox      ${inbox}
batcher    ${batcher}
batches    3 transactions, 1 with 3 blobs, 2 with 248 B of calldata, 1 from other senders ignored
interval   24 s, from 12 s to 24 s
channels   1 seen, 1 closed, 2 frames, blobs are read with --l1.beacon
fees       0.00030000000393216 ETH: execution 0.0003 ETH, blobs 0.00000000000393216 ETH
L2         240 blocks (61 to 300), 120.0 kB
cost       2.5 gwei for an L2 byte, 1250 gwei for a block
delay      28 s, from 16 s to 28 s
`)
})

it('cli/commands/da: shows a window without batches', async () => {
  const { code, out } = await run(['--json'], {
    l1: {
      rpc: { ...l1, eth_getBlockByNumber: ([at]) => ({ result: { ...blockOf(at === 'latest' ? 50 : Number(at)), transactions: [] } }) },
    },
  })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({
    transactions: { count: 0 },
    channels: null,
    l2: null,
    weiPerL2Byte: null,
    delaySec: null,
    intervalSec: null,
  })
})

it.each<[string, { node?: ScriptedServer; l1?: ScriptedServer }, RegExp]>([
  ['L1 that refuses', { l1: { rpcStatus: 500, rpc: {} } }, /127\.0\.0\.1:\d+ does not give the newest L1 block: .*\(DA_UNREADABLE\)/],
  [
    'L1 with malformed blocks',
    { l1: { rpc: { eth_getBlockByNumber: { result: { number: 7 } } } } },
    /number is not a text.*\(DA_UNREADABLE\)/,
  ],
  ['a node without the rollup RPC', { node: { rpc: {} } }, /does not give the rollup config: it has none.*\(DA_UNREADABLE\)/],
])('cli/commands/da: reports %s in one line, without keys', async (_which, servers, line) => {
  const { code, out, err } = await run([], servers)
  expect([code, out]).toEqual([2, ''])
  expect(err).toMatch(line)
  expect(err).not.toContain('k3y')
  expect(err.match(/\n/g)).toHaveLength(1)
})

it.each<[string, ScriptedServer['pages'], Partial<DaFacts>]>([
  [
    'selected by hash',
    { ...times, [newPath]: { body: JSON.stringify({ data: blobs }) } },
    { channels: { seen: 2, closed: 2, frames: 5, malformed: 0 }, blobs: { read: 3, missing: 0, reason: null } },
  ],
  [
    'as sidecars, in any order, one of them missing',
    { ...times, [`/eth/v1/beacon/blob_sidecars/${slot}`]: { body: sidecars(2, 0) } },
    {
      channels: { seen: 2, closed: 2, frames: 4, malformed: 0 },
      blobs: { read: 2, missing: 1, reason: 'the beacon node does not have all of them' },
    },
  ],
  [
    'that are malformed',
    { ...times, [newPath]: { body: JSON.stringify({ data: [blobs[0], `0x${'ff'.repeat(131_072)}`, '0x00'] }) } },
    { channels: { seen: 2, closed: 1, frames: 3, malformed: 2 }, blobs: { read: 3, missing: 0, reason: null } },
  ],
  [
    'that are no hex',
    { ...times, [newPath]: { body: JSON.stringify({ data: ['x', 'y', 'z'] }) } },
    { channels: { seen: 1, closed: 1, frames: 2, malformed: 0 }, blobs: { read: 0, missing: 3, reason: 'HTTP 404' } },
  ],
  [
    'of a server that is no beacon API',
    {},
    { channels: { seen: 1, closed: 1, frames: 2, malformed: 0 }, blobs: { read: 0, missing: 3, reason: 'HTTP 404' } },
  ],
])('cli/commands/da: decodes frames of blobs %s', async (_which, pages = {}, expected) => {
  await using beacon = await serveNode({ pages })
  const { code, out, err } = await run(['--blocks', '4', '--json', '--l1.beacon', `${beacon.url}/`])
  expect([code, err]).toEqual([0, ''])
  expect(JSON.parse(out)).toMatchObject(expected)
})

it('cli/commands/da: needs an L1 endpoint (MISSING_FLAG)', async () => {
  const io = scriptedIo({ clock: systemClock })
  expect(await runCli(['da'], io)).toBe(2)
  expect(io.written.err).toMatch(/--l1\.rpc is needed.*\(MISSING_FLAG\)/)
})
