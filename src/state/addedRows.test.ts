import { expect, it } from 'vitest'
import { bytesFromBigint } from '#lib/bytes'
import { keccak256 } from '#lib/keccak'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { emptyCodeHash } from '#types/ids'
import { createStateDiff } from '#types/stateDiffTable'
import { addedRows } from './addedRows.ts'
import { writeGenesis, writeState } from './chainState.ts'

const key = (name: string): Uint8Array => keccak256(Buffer.from(name))
const change = { nonce: 1n, balance: 1n, codeHash: emptyCodeHash }
const account = (name: string) => ({ key: key(name), change, wiped: false })
const removed = (name: string) => ({ key: key(name), change: null, wiped: true })
const slot = (name: string, value: number) => ({ addressKey: key('a'), slotKey: key(name), value: bytesFromBigint(BigInt(value), 32) })
const tries = { nodes: [], storageRoots: new Map() }
const diff = (accounts: Parameters<typeof createStateDiff>[0]['accounts'], slots: Parameters<typeof createStateDiff>[0]['slots'] = []) =>
  createStateDiff({ accounts, slots, codes: [] })

it('state/addedRows: counts new accounts and slots of each block, less removed ones, and not changed ones', () => {
  const kv = createMemoryKv()
  const blocks = [
    diff([account('a'), account('b')], [slot('1', 1), slot('2', 1)]),
    diff([account('a')], [slot('1', 2), slot('3', 1), slot('2', 0)]),
    diff([account('a')], [slot('2', 4), slot('4', 1)]),
    diff([removed('a'), account('c'), account('d')]),
  ]
  kv.write((tx) => {
    writeGenesis(tx, diff([account('first')]), tries)
    for (const [at, block] of blocks.entries()) writeState(tx, at + 1, block, tries)
  })
  using reader = kv.snapshot()
  expect([1, 2, 3, 4].map((number) => addedRows(reader, number))).toEqual([
    { accounts: 2, slots: 2 },
    { accounts: 0, slots: 0 },
    { accounts: 0, slots: 2 },
    { accounts: 1, slots: -4 },
  ])
})
