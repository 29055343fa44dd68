import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesFromBigint, concatBytes, u64Bytes } from '#lib/bytes'
import { fromHex, toQuantity } from '#lib/hex'
import { keccak256 } from '#lib/keccak'
import { createLog } from '#lib/log'
import { openForeignChainReader } from '#store/chainTables'
import { type TableSpec, tables } from '#store/tables'
import { accountOf } from '#test/harness/chain/blocks'
import { testAddress } from '#test/harness/evm/sessions'
import { makeChain, startChain } from '#test/harness/process/builtChain'

const base = mkdtempSync(join(tmpdir(), 'basalt-answers-'))
const template = join(base, 'template')
const [blocks, asked] = [12, 5]
const contract = testAddress(0x55)
const code = '0x6020355f355500'
/** written by the asked block, and never before */
const slot = 0x348
afterAll(() => rmSync(base, { recursive: true, force: true }))

type Question = readonly [method: string, ...params: unknown[]]
type Answer = { readonly result?: unknown; readonly error?: { readonly message: string } }

async function ask(url: string, [method, ...params]: Question): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { result, error } = (await response.json()) as Answer
  return error ? { error } : { result }
}

const number = `0x${asked.toString(16)}`
const questions = (blockHash: string, transactionHash: string): Question[] => [
  ['eth_getBalance', accountOf('alice'), 'latest'],
  ['eth_getBalance', accountOf('alice'), number],
  ['eth_getBalance', accountOf('alice'), toQuantity(blocks - 1)],
  ['eth_getTransactionCount', accountOf('alice'), 'latest'],
  ['eth_getCode', contract, 'latest'],
  ['eth_getStorageAt', contract, toQuantity(slot), 'latest'],
  ['eth_getStorageAt', contract, toQuantity(slot), number],
  ['eth_getStorageAt', contract, '0x7d0', 'latest'],
  ['eth_getBlockByNumber', number, true],
  ['eth_getBlockByHash', blockHash, false],
  ['eth_getTransactionByHash', transactionHash],
  ['eth_getTransactionReceipt', transactionHash],
  ['eth_getBlockReceipts', number],
  ['eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' }],
  ['eth_getProof', contract, [toQuantity(slot)], 'latest'],
]

let asks: Question[] = []
let right: Answer[] = []
/** of the asked block and of its asked transaction */
let hashes = { block: '', transaction: '' }

/** Returns the answers of a node on a data directory, and its log. */
async function answersOf(datadir: string): Promise<{ readonly answers: readonly Answer[]; readonly logged: string }> {
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => lines.push(line) })
  await using node = await startChain(datadir, 'unfinalized', () => {}, {}, log)
  const answers: Answer[] = []
  for (const question of asks) answers.push(await ask(node.urls.http ?? '', question))
  return { answers, logged: lines.join('') }
}

beforeAll(async () => {
  await makeChain(template, 'unfinalized', blocks)
  {
    await using node = await startChain(template, 'unfinalized', () => {})
    const { result } = await ask(node.urls.http ?? '', ['eth_getBlockByNumber', number, false])
    const { hash, transactions } = result as { hash: string; transactions: string[] }
    hashes = { block: hash, transaction: transactions[7] ?? '' }
    asks = questions(hashes.block, hashes.transaction)
  }
  right = [...(await answersOf(template)).answers]
}, 60_000)

type FlippedRow = { readonly table: TableSpec; readonly key: () => Uint8Array /** of its value */; readonly byte: number }

async function storedValue(datadir: string, { table, key }: FlippedRow): Promise<Uint8Array> {
  await using source = openForeignChainReader(join(datadir, 'chain'))
  using reader = source.snapshot()
  return reader.get(table.id, key()) ?? expect.fail()
}

/** Flips a bit in the key or in the value of a row, in each page of the file that has the row. */
async function flip(datadir: string, row: FlippedRow, of: 'key' | 'value'): Promise<void> {
  const path = join(datadir, 'chain/data.mdb')
  const [key, value] = [row.key(), await storedValue(datadir, row)]
  const file = readFileSync(path)
  // a value of some length is in pages of its own
  const isLong = value.length > 1_000
  const start = isLong ? (of === 'key' ? key : value.subarray(0, 1_000)) : concatBytes(key, value)
  const at = of === 'key' ? key.length - 1 : row.byte + (isLong ? 0 : key.length)
  const places: number[] = []
  for (let place = file.indexOf(start); place >= 0; place = file.indexOf(start, place + 1)) places.push(place)
  for (const place of places) file[place + at] = (file[place + at] as number) ^ 4
  expect(places).not.toEqual([])
  writeFileSync(path, file)
}

const hashed = (hex: string): Uint8Array => keccak256(fromHex(hex))
const slotKey = (slot: number): Uint8Array => concatBytes(hashed(contract), keccak256(bytesFromBigint(BigInt(slot), 32)))
const blockKey = (): Uint8Array => concatBytes(u64Bytes(asked), fromHex(hashes.block))

const rows: readonly FlippedRow[] = [
  { table: tables.accounts, key: () => hashed(accountOf('alice')), byte: 6 },
  { table: tables.storage, key: () => slotKey(slot), byte: 0 },
  { table: tables.code, key: () => hashed(code), byte: 1 },
  { table: tables.canonical, key: () => u64Bytes(asked), byte: 3 },
  { table: tables.headers, key: blockKey, byte: 100 },
  { table: tables.bodies, key: blockKey, byte: 500 },
  { table: tables.receipts, key: blockKey, byte: 700 },
  { table: tables.blockByHash, key: () => fromHex(hashes.block), byte: 7 },
  { table: tables.txByHash, key: () => fromHex(hashes.transaction), byte: 11 },
  {
    table: tables.changes,
    key: () => concatBytes(u64Bytes(asked + 1), Uint8Array.of(tables.accounts.id), hashed(accountOf('alice'))),
    byte: 3,
  },
  { table: tables.historyIndex, key: () => concatBytes(Uint8Array.of(0x40), u64Bytes(blocks), new Uint8Array(4)), byte: 2 },
]

describe('process/damagedAnswers', () => {
  it('process/damagedAnswers: all questions have answers while nothing is damaged', () => {
    expect(right.filter(({ error }) => error)).toEqual([])
  })

  const cases = rows.flatMap((row) => (['key', 'value'] as const).map((of) => [of, row.table.name, row] as const))
  it.each(cases)('process/damagedAnswers: no answer is wrong because of a flipped bit in the %s of a row of %s', async (of, name, row) => {
    const datadir = join(base, `${name}-${of}`)
    cpSync(template, datadir, { recursive: true })
    await flip(datadir, row, of)
    const { answers, logged } = await answersOf(datadir)
    const failed = { error: { code: -32603, message: 'Internal error' } }
    const differing = answers.filter((answer, at) => !isDeepStrictEqual(answer, right[at]))
    expect(differing.length).toBeGreaterThan(0)
    expect(differing).toEqual(differing.map(() => failed))
    expect(logged).toContain('STORE_DAMAGED')
    expect(logged).toContain(join(datadir, 'chain'))
  })
})
