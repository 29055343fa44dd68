// Sends the recorded stream frame by frame over sockets to a node's feed and real execution.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync } from 'node:zlib'
import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { payloadOfBlock } from '#block/execution/payloadBlock'
import { createExecution } from '#blockchain/execution'
import { parseBaseGenesisNote } from '#chainspec/baseGenesis'
import { agreeWithGenesis } from '#chainspec/genesis'
import { l2RefOf } from '#chainspec/l2Ref'
import { parseRollupConfig } from '#chainspec/rollupConfig'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex, type Hex } from '#lib/hex'
import { silentLog } from '#lib/log'
import { noFlashblocks, openFlashblocks } from '#node/parts/flashblocksPart'
import { createManualClock } from '#test/harness/clock'
import { readShared, readSharedJson } from '#test/harness/sharedData'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeBlock } from '#types/block'

type Line = { readonly t: number; readonly text: string }
type Message = {
  readonly payload_id: string
  readonly index: number
  readonly diff: { readonly transactions: readonly Hex[] }
  readonly metadata: { readonly block_number: number }
}

const lines = readShared('flashblocks/frames.jsonl.zst')
  .toString()
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line)
const recorded = readSharedJson<{ blocks: readonly { readonly raw: Hex }[] }>('flashblocks/l2.json.zst')
const { genesis } = parseBaseGenesisNote(recorded)
const config = agreeWithGenesis(parseRollupConfig(readSharedJson('flashblocks/rollup.json')), genesis)
const payloads = recorded.blocks.map(({ raw }) => payloadOfBlock(decodeBlock(fromHex(raw))))

async function startPublisher() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clients: server.clients,
    send: (data: string | Uint8Array): void => {
      for (const client of server.clients) client.send(data)
    },
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

const firstNumber = (JSON.parse(lines[0]?.text ?? '') as Message).metadata.block_number

const until = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 10_000, interval: 1 })

it('flashblocks: shows every flashblock of two publishers that each lose every third one, and seals blocks without executing them again', async () => {
  await using plain = await startPublisher()
  await using packed = await startPublisher()
  const clock = createManualClock()
  let part = noFlashblocks
  await using execution = createExecution({
    ...{ kv: createMemoryKv(), evm: createWasmEvm(), config, genesis: () => genesis, clock, log: silentLog },
    onPublish: (record) => part.publish(record),
  })
  const seal = async (number: number): Promise<void> => {
    const payload = payloads[number] ?? expect.fail()
    expect(await execution.insert(payload)).toEqual({ kind: 'valid' })
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
  }
  const before = firstNumber - 1
  for (let number = 1; number <= before; number++) await seal(number)
  const registry = new Registry()
  using opened = openFlashblocks(
    { clock, registry, execution, random: () => 0, log: silentLog, sync: () => undefined },
    { config, flashblocks: { urls: [plain.url, packed.url] } },
  )
  part = opened
  await until(() => expect([plain.clients.size, packed.clients.size]).toEqual([1, 1]))

  const reverted = async () => (await registry.getSingleMetric('basalt_flashblocks_reverted_transactions_total')?.get())?.values[0]?.value
  let sent: readonly Hex[] = []
  let lastMs = 0
  for (const [at, { t, text }] of lines.entries()) {
    await clock.advanceMs(t - lastMs)
    lastMs = t
    const {
      index,
      diff,
      metadata: { block_number: number },
    } = JSON.parse(text) as Message
    // a block becomes canonical when the second flashblock of the next one arrives
    if (index === 1 && number > firstNumber) await seal(number - 1)
    if (at % 3 !== 0) plain.send(text)
    if (at % 3 !== 1) packed.send(brotliCompressSync(Buffer.from(text)))
    sent = index === 0 ? diff.transactions : [...sent, ...diff.transactions]
    await until(() => {
      const shown = execution.published.pending?.blocks.at(-1)
      expect([shown?.header.number, shown?.index]).toEqual([number, index])
    })
    const shown = execution.published.pending?.blocks.at(-1)
    expect(shown?.transactions.map((raw) => Buffer.from(raw).toString('hex'))).toEqual(sent.map((raw) => raw.slice(2)))
    expect(part.problems()).toEqual([])
  }
  // every recorded block above the first ones
  expect(execution.sizes().reused).toBe(payloads.length - 1 - before)
  expect(await reverted()).toBe(0)
  await clock.advanceMs(2_000 * config.blockTimeSec)
  expect(await reverted()).toBe(sent.length)
  expect([execution.published.pending, part.problems().length]).toEqual([undefined, 1])
}, 60_000)
