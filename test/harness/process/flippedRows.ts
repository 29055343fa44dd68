import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compareBytes, equalBytes } from '#lib/bytes'
import { isFault } from '#lib/fault'
import { openLmdbKv } from '#store/lmdbKv'
import { openForeignReader } from '#store/lmdbReader'
import type { KvReader } from '#store/ports'
import type { TableSpec } from '#store/tables'
import { dice } from '../dice.ts'
import { applyDamage, type Damage } from './damagedFile.ts'

type Row = { readonly key: Uint8Array; readonly value: Uint8Array }

const specs: readonly TableSpec[] = [
  { id: 1, name: 'slots', key: '64 bytes', value: 'up to 32 bytes', doc: 'rows at random places' },
  { id: 2, name: 'blocks', key: 'number', value: 'long', doc: 'rows in order', isLong: true },
]
const slots = 1

function bytesOf(length: number, roll: (below: number) => number): Uint8Array {
  return Uint8Array.from({ length }, () => roll(256))
}

const inOrder = (rows: readonly Row[]): Row[] => [...rows].sort((a, b) => compareBytes(a.key, b.key))

/** The same rows in each process. */
function rowsOf(table: number): Row[] {
  const roll = dice(table)
  if (table === slots) return inOrder(Array.from({ length: 1_200 }, () => ({ key: bytesOf(64, roll), value: bytesOf(1 + roll(32), roll) })))
  return Array.from({ length: 40 }, (_, at) => ({ key: Uint8Array.of(1, at), value: bytesOf(roll(3) === 0 ? 9_000 : roll(400), roll) }))
}

/** Creates the tables. */
export async function makeTables(dir: string): Promise<void> {
  await using kv = openLmdbKv(dir, specs)
  for (const { id } of specs) {
    kv.write((tx) => {
      for (const { key, value } of rowsOf(id)) tx.put(id, key, value)
    })
  }
}

const sameRows = (a: readonly Row[], b: readonly Row[]): boolean =>
  a.length === b.length &&
  a.every(({ key, value }, at) => equalBytes(key, b[at]?.key ?? new Uint8Array()) && equalBytes(value, b[at]?.value ?? new Uint8Array()))

/** Answers of one kind: how many are right, and how many are faults. @throws Error on a wrong one */
class Answers {
  right = 0
  faults = 0

  take(what: string, isRight: () => boolean): void {
    try {
      if (!isRight()) throw new Error(`wrong: ${what}`)
      this.right++
    } catch (error) {
      if (!isFault(error, 'STORE_DAMAGED')) throw error
      this.faults++
    }
  }
}

/** Asks for each row, for a row between each two, and for ranges that begin and end at any of them. */
function ask(reader: KvReader, table: number, answers: Answers): void {
  const rows = rowsOf(table)
  const roll = dice(77)
  for (const { key, value } of rows) answers.take('a row', () => equalBytes(reader.get(table, key) ?? new Uint8Array(), value))
  for (const { key } of rows) {
    const absent = Uint8Array.of(...key.subarray(0, -1), (key.at(-1) as number) ^ 1, 1)
    answers.take('an absent row', () => reader.get(table, absent) === undefined)
  }
  for (let at = 0; at < 60; at++) {
    const [first, count, reverse] = [roll(rows.length), 1 + roll(30), roll(2) === 0]
    const [from, to] = [rows[first]?.key as Uint8Array, rows[first + count]?.key]
    const expected = rows.slice(first, to && first + count)
    const range = { from, ...(to && { to }), reverse }
    answers.take('a range', () => sameRows([...reader.range(table, range)], reverse ? expected.toReversed() : expected))
  }
}

/** Returns the number of right answers and of faults, the code of a fault of the start, or the error of a wrong answer. */
async function outcomeOf(dir: string): Promise<string> {
  try {
    await using source = openForeignReader(dir, specs)
    using reader = source.snapshot()
    const answers = new Answers()
    for (const { id } of specs) ask(reader, id, answers)
    return `right ${answers.right}, faults ${answers.faults}`
  } catch (error) {
    return isFault(error) ? error.code : String(error)
  }
}

const [, script, template = '', scratch = ''] = process.argv
if (process.send && script === import.meta.filename) {
  process.on('message', async (damage: Damage) => {
    rmSync(scratch, { recursive: true, force: true })
    cpSync(template, scratch, { recursive: true })
    applyDamage(damage, join(scratch, 'data.mdb'))
    process.send?.(await outcomeOf(scratch))
  })
}
