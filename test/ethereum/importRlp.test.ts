import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { fromHex, type Hex } from '#lib/hex'
import type { Kv } from '#store/ports'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { createEthereumEvm } from '#test/reference/ethereumEvm'
import { createReferenceEvm } from '#test/reference/referenceEvm'
import { encodeBlock } from '#types/block'
import type { Header } from '#types/header'
import { type EthereumChain, openEthereumChain } from './chain.ts'
import { parseEthereumGenesis } from './genesis.ts'
import { importRlp } from './importRlp.ts'
import { decodeWholeBlock } from './wholeBlock.ts'

/** The genesis and the first block of the conformance suite's chain, under Homestead's rules; test/data imports the whole chain. */
const file = resolve(import.meta.dirname, 'chain.json')
const vector = JSON.parse(readFileSync(file, 'utf8')) as { genesis: unknown; blocks: Hex }
const spec = parseEthereumGenesis(vector.genesis)
const bytes = fromHex(vector.blocks)
const { block } = decodeWholeBlock(bytes, 0)

const openOn = (kv: Kv): EthereumChain => openEthereumChain({ kv, evm: createEthereumEvm(createReferenceEvm()), spec })
const changed = (fields: Partial<Header>): Uint8Array => encodeBlock({ ...block, header: { ...block.header, ...fields } })

it('ethereum/importRlp: executes a block, commits it with its receipts, and skips it the second time', () => {
  const kv = createMemoryKv()
  const told: number[] = []
  expect(importRlp(openOn(kv), bytes, ({ header }) => told.push(header.number))).toEqual({ imported: 1, skipped: 0, gas: 337_899n })
  expect(importRlp(openOn(kv), bytes, ({ header }) => told.push(header.number))).toEqual({ imported: 0, skipped: 1, gas: 0n })
  expect(told).toEqual([1])
  const chain = openOn(kv)
  using view = chain.view()
  expect(view.block(chain.head.hash)?.block).toEqual(block)
  // before Byzantium a receipt has a state root; the last one is of the state before the miner is paid
  expect(view.receipts(chain.head.hash)?.map(({ receipt }) => receipt.postState?.length)).toEqual([32, 32, 32, 32])
})

it.each([
  ['gasUsed', { gasUsed: 337_900n }],
  ['receiptsRoot', { receiptsRoot: block.header.stateRoot }],
  ['stateRoot', { stateRoot: block.header.receiptsRoot }],
  ['number', { number: 2 }],
  ['baseFeePerGas', { baseFeePerGas: 1n }],
])('ethereum/importRlp: refuses a block with a wrong %s, and keeps nothing of it (INVALID_BLOCK)', (field, fields) => {
  const chain = openOn(createMemoryKv())
  const data = expect.objectContaining({ reason: expect.stringContaining(field) })
  expect(() => importRlp(chain, changed(fields))).toThrow(expect.objectContaining({ code: 'INVALID_BLOCK', data }))
  expect(chain.head.number).toBe(0)
})

it('ethereum/importRlp: refuses a truncated block, and keeps the blocks before it', () => {
  const chain = openOn(createMemoryKv())
  const cut = new Uint8Array([...bytes, ...bytes.subarray(0, -1)])
  expect(() => importRlp(chain, cut)).toThrow('block 2 of the RLP file')
  expect(chain.head.number).toBe(1)
})

it('ethereum/importRlp: begins no block after its signal was aborted', () => {
  const chain = openOn(createMemoryKv())
  expect(importRlp(chain, bytes, undefined, AbortSignal.abort())).toEqual({ imported: 0, skipped: 0, gas: 0n })
})

it('ethereum/chain: refuses the store of another genesis (GENESIS_MISMATCH)', () => {
  const kv = createMemoryKv()
  openOn(kv)
  const other = parseEthereumGenesis({ ...(vector.genesis as object), gasLimit: '0x1388' })
  const open = (): EthereumChain => openEthereumChain({ kv, evm: createReferenceEvm(), spec: other })
  expect(open).toThrow(expect.objectContaining({ code: 'GENESIS_MISMATCH' }))
})

it('ethereum/chain: labels a committed block safe and finalized, and refuses an unknown one', () => {
  const chain = openOn(createMemoryKv())
  importRlp(chain, bytes)
  chain.label(chain.head)
  expect(chain.published.heads.finalized).toMatchObject({ ...chain.head, timestamp: 10 })
  const unknown = { number: 7, hash: block.header.stateRoot }
  expect(() => chain.label(unknown)).toThrow(expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED' }))
  expect(chain.published.heads.finalized).toMatchObject(chain.head)
})

it('scripts/importEthereum: imports the blocks of a file with the genesis of their chain, and not twice', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'basalt-ethereum-'))
  const [blocks, genesis] = [join(dir.path, 'chain.rlp'), join(dir.path, 'genesis.json')]
  writeFileSync(blocks, bytes)
  writeFileSync(genesis, JSON.stringify(vector.genesis))
  const args = ['bin/run.js', 'scripts/importEthereum.ts', blocks, '--genesis', genesis, '--datadir', join(dir.path, 'data')]
  const hash = '0x80e911b62f552f563a2544dfef5eb39ec8863d9082c998ca6b657f76e19de38e'
  for (const imported of [1, 0]) {
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: resolve(import.meta.dirname, '../..') })
    expect(JSON.parse(stdout)).toEqual(expect.objectContaining({ imported, alreadyThere: 1 - imported, head: 1, hash }))
  }
})
