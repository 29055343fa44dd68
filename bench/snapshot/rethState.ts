import { keccak256 } from '#lib/keccak'
import { dice } from '#test/harness/dice'
import { mdbxFile, type TableRows } from '#test/harness/snapshot/mdbxFile'

type RowList = readonly (readonly [Uint8Array, Uint8Array])[]

/** Accounts and slots of a generated database. Every tenth account has slots: half of them one to four, the others share the rest. */
export type StateSize = { readonly accounts: number; readonly slots: number; readonly seed: number }

/** Makes a database of the other client with tables of hashed state, written by our own test writer in the order of its keys. */
export function rethDatabase({ accounts, slots, seed }: StateSize, pageSize: number): Uint8Array {
  const roll = dice(seed)
  const code = Uint8Array.from({ length: 200 }, () => roll(256))
  const codeHash = keccak256(code)
  const keys = hashes(accounts, roll)
  const tables: TableRows[] = [
    { name: 'Bytecodes', values: 'one', rows: [[codeHash, codeRow(code)]] },
    {
      name: 'HashedAccounts',
      values: 'one',
      rows: keys.map((key, index) => [key, accountRow(roll, index % 10 === 0 ? codeHash : undefined)] as const),
    },
    { name: 'HashedStorages', values: 'several', rows: slotRows(keys, slots, roll) },
  ]
  return mdbxFile(pageSize, tables)
}

/** Random hashes, ascending. */
function hashes(count: number, roll: (below: number) => number): Uint8Array[] {
  const step = 2 ** 32 / count
  return Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.alloc(32)
    bytes.writeUInt32BE(Math.floor(index * step))
    for (let at = 4; at < 32; at += 4) bytes.writeUInt32LE(roll(2 ** 32), at)
    return new Uint8Array(bytes.buffer, bytes.byteOffset, 32)
  })
}

function accountRow(roll: (below: number) => number, codeHash: Uint8Array | undefined): Uint8Array {
  const flags = 1 | (8 << 4) | (codeHash ? 1 << 10 : 0)
  const balance = Uint8Array.from({ length: 8 }, () => 1 + roll(255))
  return Uint8Array.from([flags & 0xff, flags >> 8, 1 + roll(255), ...balance, ...(codeHash ?? [])])
}

function codeRow(code: Uint8Array): Uint8Array {
  const row = Buffer.alloc(5 + code.length)
  row.writeUInt32BE(code.length)
  row.set(code, 4)
  return row
}

function* slotRows(keys: readonly Uint8Array[], slots: number, roll: (below: number) => number): Generator<RowList[number]> {
  const owners = keys.filter((_, index) => index % 10 === 0)
  const large = owners.length / 2
  for (const [index, key] of owners.entries()) {
    const count = index % 2 === 0 ? 1 + roll(4) : Math.round((slots - 2.5 * large) / large)
    for (const slot of hashes(count, roll)) {
      const value = Uint8Array.from({ length: [1, 8, 20, 32][roll(4)] ?? 1 }, () => 1 + roll(255))
      const row = new Uint8Array(32 + value.length)
      row.set(slot)
      row.set(value, 32)
      yield [key, row]
    }
  }
}
