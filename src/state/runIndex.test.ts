import { expect, it } from 'vitest'
import { tables } from '#store/tables'
import { dice } from '#test/harness/dice'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import { RunIndex } from './runIndex.ts'

type Change = { readonly digest: number; readonly hint: number }

const index = new RunIndex({ table: tables.historyIndex.id, kind: 0x40, fanOut: 16, levels: 2, sliceBlocks: 4, hasHints: true })
const digests = [0, 7, 2 ** 31, 2 ** 32 - 1]

/** Returns changes of a block: each digest once, twice with different hints, or not at all. */
function anyChanges(roll: (below: number) => number): Change[] {
  return digests.flatMap((digest) => Array.from({ length: roll(3) }, () => ({ digest, hint: roll(17) })))
}

it('state/runIndex: finds the changes of a digest whose hint is wanted, in both directions, while runs are merged and dropped', () => {
  const [kv, roll] = [createMemoryKv(), dice(7)]
  const blocks: Change[][] = []
  const append = (count: number, isFinal: boolean): void =>
    kv.write((tx) => {
      for (let i = 0; i < count; i++) {
        const number = blocks.length
        const changes = anyChanges(roll)
        blocks.push(changes)
        index.write(
          tx,
          number,
          changes.map(({ digest }) => digest),
          changes.map(({ hint }) => hint),
        )
        if (isFinal) index.dropMerged(tx, number)
      }
    })
  const drop = (count: number, isMerged: boolean): void =>
    kv.write((tx) => {
      for (let i = 0; i < count; i++) index.drop(tx, blocks.length - i - 1, isMerged)
      blocks.length -= count
    })
  function check(): void {
    using reader = kv.snapshot()
    const head = blocks.length - 1
    for (const digest of digests) {
      const [from, to, wanted] = [roll(blocks.length), roll(blocks.length), roll(17)]
      const isWanted = (hint: number): boolean => hint >= wanted
      const inOrder = (low: number, high: number): number[] =>
        blocks.flatMap((changes, number) =>
          changes
            .filter((change) => change.digest === digest && isWanted(change.hint) && number >= low && number <= high)
            .map(() => number),
        )
      // equal changes of a block may be found once
      const found = (numbers: Iterable<number>): number[] => [...new Set(numbers)]
      expect(found(index.blocksUp(reader, digest, { from, to, head }, isWanted))).toEqual(found(inOrder(from, to)))
      expect(found(index.blocksDown(reader, digest, { from, to, head }, isWanted))).toEqual(found(inOrder(to, from).reverse()))
    }
  }
  for (const [count, isFinal] of [
    [5, false],
    [30, true],
    [300, true],
    [9, true],
  ] as const) {
    append(count, isFinal)
    for (let i = 0; i < 20; i++) check()
  }
  drop(150, true)
  for (let i = 0; i < 20; i++) check()
  append(200, true)
  for (let i = 0; i < 20; i++) check()
})
