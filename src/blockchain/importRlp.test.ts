import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { configOfGenesis } from '#block/executionConfig'
import { parseEthereumGenesis } from '#chainspec/ethereumGenesis'
import { createEthereumEvm } from '#evm/ethereumEvm'
import { createReferenceEvm } from '#evm/referenceEvm'
import { fromHex, type Hex } from '#lib/hex'
import type { Kv } from '#store/ports'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { decodeWholeBlock, encodeBlock } from '#types/block'
import type { Header } from '#types/header'
import { type EthereumChain, openEthereumChain } from './ethereumChain.ts'
import { importRlp } from './importRlp.ts'

/** The genesis and the first block of the conformance suite's chain, under Homestead's rules; test/data imports the whole chain. */
const file = resolve(import.meta.dirname, '../../test/vectors/ethereumChain.json')
const vector = JSON.parse(readFileSync(file, 'utf8')) as { genesis: unknown; blocks: Hex }
const { genesis } = parseEthereumGenesis(vector.genesis)
const bytes = fromHex(vector.blocks)
const { block } = decodeWholeBlock(bytes, 0)

const openOn = (kv: Kv): EthereumChain =>
  openEthereumChain({ kv, evm: createEthereumEvm(createReferenceEvm()), config: configOfGenesis(genesis), genesis: () => genesis })
const changed = (fields: Partial<Header>): Uint8Array => encodeBlock({ ...block, header: { ...block.header, ...fields } })

it('blockchain/importRlp: executes a block, commits it with its receipts, and skips it the second time', () => {
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
])('blockchain/importRlp: refuses a block with a wrong %s, and keeps nothing of it (INVALID_BLOCK)', (field, fields) => {
  const chain = openOn(createMemoryKv())
  const data = expect.objectContaining({ reason: expect.stringContaining(field) })
  expect(() => importRlp(chain, changed(fields))).toThrow(expect.objectContaining({ code: 'INVALID_BLOCK', data }))
  expect(chain.head.number).toBe(0)
})

it('blockchain/importRlp: refuses a truncated block, and keeps the blocks before it (BAD_BLOCK)', () => {
  const chain = openOn(createMemoryKv())
  const cut = new Uint8Array([...bytes, ...bytes.subarray(0, -1)])
  expect(() => importRlp(chain, cut)).toThrow(expect.objectContaining({ code: 'BAD_BLOCK', data: expect.objectContaining({ block: 2 }) }))
  expect(chain.head.number).toBe(1)
})

it('blockchain/importRlp: begins no block after its signal was aborted', () => {
  const chain = openOn(createMemoryKv())
  expect(importRlp(chain, bytes, undefined, AbortSignal.abort())).toEqual({ imported: 0, skipped: 0, gas: 0n })
})

it('blockchain/ethereumChain: refuses the store of another genesis (GENESIS_MISMATCH)', () => {
  const kv = createMemoryKv()
  openOn(kv)
  const { genesis: other } = parseEthereumGenesis({ ...(vector.genesis as object), gasLimit: '0x1388' })
  const open = (): EthereumChain =>
    openEthereumChain({ kv, evm: createReferenceEvm(), config: configOfGenesis(other), genesis: () => other })
  expect(open).toThrow(expect.objectContaining({ code: 'GENESIS_MISMATCH' }))
})

it('blockchain/ethereumChain: labels a committed block safe and finalized, and refuses an unknown one', () => {
  const chain = openOn(createMemoryKv())
  importRlp(chain, bytes)
  chain.label(chain.head)
  expect(chain.published.heads.finalized).toMatchObject({ ...chain.head, timestamp: 10 })
  const unknown = { number: 7, hash: block.header.stateRoot }
  expect(() => chain.label(unknown)).toThrow(expect.objectContaining({ code: 'CHAIN_STORE_DAMAGED' }))
  expect(chain.published.heads.finalized).toMatchObject(chain.head)
})
