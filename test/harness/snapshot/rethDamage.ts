import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isFault } from '#lib/fault'
import { StateBuilder } from '#snapshot/load/stateBuilder'
import { Database } from '#snapshot/reth/mdbx/database'
import { readHeaders } from '#snapshot/reth/staticFiles/headers'
import { readHeadNumber, requireHeaderNumber } from '#snapshot/reth/tables/headTables'
import { codesAfter, StateCursor } from '#snapshot/reth/tables/stateCursor'
import type { Hash } from '#types/ids'

export type Roll = (below: number) => number

const pageSize = 4_096

/** Kinds of damage to a database file. Each returns the new bytes. */
export const pageDamages: Readonly<Record<string, (bytes: Buffer, roll: Roll) => Buffer>> = {
  flips: (bytes, roll) => {
    for (let flips = roll(8); flips >= 0; flips--) flip(bytes, roll(bytes.length), roll)
    return bytes
  },
  'a flip in the header of a page': (bytes, roll) => {
    flip(bytes, roll(bytes.length / pageSize) * pageSize + roll(64), roll)
    return bytes
  },
  'a flip in a meta page': (bytes, roll) => {
    flip(bytes, roll(3) * pageSize + roll(204), roll)
    return bytes
  },
  'a cut': (bytes, roll) => bytes.subarray(0, roll(bytes.length)),
  'two pages swapped': (bytes, roll) => {
    const [a, b] = [roll(bytes.length / pageSize), roll(bytes.length / pageSize)]
    const page = Buffer.from(bytes.subarray(a * pageSize, (a + 1) * pageSize))
    bytes.copyWithin(a * pageSize, b * pageSize, (b + 1) * pageSize)
    page.copy(bytes, b * pageSize)
    return bytes
  },
  'a page instead of another, with its number': (bytes, roll) => {
    const to = 3 + roll(bytes.length / pageSize - 3)
    const from = roll(bytes.length / pageSize)
    bytes.copyWithin(to * pageSize, from * pageSize, (from + 1) * pageSize)
    bytes.writeUInt32LE(to, to * pageSize + 16)
    return bytes
  },
  'a child or offset replaced': (bytes, roll) => {
    const pages = bytes.length / pageSize
    const page = roll(pages)
    const at = page * pageSize + 20 + (bytes.readUInt16LE(page * pageSize + 20) % (pageSize - 32))
    if (roll(2) === 0) bytes.writeUInt32LE(roll(pages + 5), at)
    else bytes.writeUInt16LE(roll(pageSize), page * pageSize + 20 + 2 * roll(20))
    return bytes
  },
  'a page of zeros or ones': (bytes, roll) => {
    const page = roll(bytes.length / pageSize)
    return bytes.fill(roll(2) * 255, page * pageSize, (page + 1) * pageSize)
  },
}

/** Kinds of damage to any file. */
const byteDamages = { flips: pageDamages['flips'], 'a cut': pageDamages['a cut'] } as typeof pageDamages

function flip(bytes: Buffer, at: number, roll: Roll): void {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << roll(8))
}

/** Outcome of reading a damaged snapshot. `harmless`: the same block with the same state. */
export type Verdict = 'refused' | 'root differs' | 'hash differs' | 'harmless'

/** Reads a snapshot as an import does, and rebuilds its root. Throws what is no fault. */
export function judgeSnapshot(dir: string, expected: { readonly hash: Hash; readonly stateRoot: Hash }): Verdict {
  try {
    using database = new Database(join(dir, 'db/mdbx.dat'))
    const number = readHeadNumber(database)
    const head = readHeaders(join(dir, 'static_files'), number, 255).at(-1)
    // the operator, or L1, vouches for the hash
    if (head?.hash !== expected.hash) return 'hash differs'
    requireHeaderNumber(database, head.hash, number)
    return rootOf(database) === expected.stateRoot ? 'harmless' : 'root differs'
  } catch (error) {
    if (isFault(error) && /^(SNAPSHOT_|STATE_UNSORTED)/.test(error.code)) return 'refused'
    throw error
  }
}

function rootOf(database: Database): Hash {
  const builder = new StateBuilder()
  const codes = new Set<string>()
  for (const { hash, code } of codesAfter(database)) {
    if (code.length > 0) builder.code(code)
    codes.add(Buffer.from(hash).toString('latin1'))
  }
  const state = new StateCursor(database)
  for (let kind = state.next(); kind !== undefined; kind = state.next()) {
    if (kind === 'slot') builder.slot(state.slotKey, state.slotValue)
    else {
      const { nonce, balance, codeHash } = state.accountValue()
      // the loader refuses an account whose code is missing
      if (codeHash && !codes.has(Buffer.from(codeHash).toString('latin1'))) throw database.damaged('table Bytecodes', 'a code is missing')
      builder.account(state.accountKey, nonce, balance, codeHash)
    }
  }
  return builder.end()
}

export type Counts = Record<Verdict, number>

/**
 * Damages the files of an unpacked snapshot, one at a time, and judges each time.
 * @param dir unpacked snapshot, whose damaged file is written again afterwards
 * @param files paths in it with their sound bytes; the first one has pages and is damaged most
 */
export function judgeDamages(
  dir: string,
  files: readonly (readonly [path: string, bytes: Buffer])[],
  expected: { readonly hash: Hash; readonly stateRoot: Hash },
  { count, roll, onSlow }: { readonly count: number; readonly roll: Roll; readonly onSlow: (what: string, ms: number) => void },
): Counts {
  const counts: Counts = { refused: 0, 'root differs': 0, 'hash differs': 0, harmless: 0 }
  for (let index = 0; index < count; index++) {
    const [path, sound] = files[roll(3) < 2 ? 0 : roll(files.length)] ?? ['', Buffer.alloc(0)]
    const kinds = Object.entries(path === files[0]?.[0] ? pageDamages : byteDamages)
    const [kind, damage] = kinds[roll(kinds.length)] ?? ['', (bytes: Buffer): Buffer => bytes]
    writeFileSync(join(dir, path), damage(Buffer.from(sound), roll))
    const start = performance.now()
    counts[judgeSnapshot(dir, expected)]++
    onSlow(`${kind} of ${path}`, performance.now() - start)
    writeFileSync(join(dir, path), sound)
  }
  return counts
}
