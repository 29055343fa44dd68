import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { genesisBlock } from '#block/genesisBlock'
import { silentLog } from '#lib/log'
import { openFileJournal } from '#store/fileJournal'
import { scheduleTo, smallChain } from '#test/harness/chain/blocks'
import type { Hash } from '#types/ids'
import { BlockJournal } from './blockJournal.ts'

const schedule = scheduleTo('isthmus')
const { header } = genesisBlock(smallChain(schedule).genesis, schedule)
const hashOf = (number: number): Hash => `0x${number.toString(16).padStart(64, '0')}` as Hash
const bodyBytes = 2 ** 20
const blockAt = (number: number) => ({
  header: { ...header, number, parentHash: hashOf(number - 1) },
  hash: hashOf(number),
  transactions: [new Uint8Array(bodyBytes).fill(number)],
})

it('blockchain/journal/blockJournal: keeps the bodies of sleeping blocks, of an earlier run and unwound, on the disk', () => {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-block-journal-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const numbers = Array.from({ length: 96 }, (_, index) => index + 1)
  {
    using file = openFileJournal(dir, silentLog)
    const journal = new BlockJournal(file, silentLog)
    for (const number of numbers) journal.appendBlock(blockAt(number))
  }
  using file = openFileJournal(dir, silentLog)
  const journal = new BlockJournal(file, silentLog)
  const unwound = blockAt(97)
  const beforeBytes = process.memoryUsage().arrayBuffers
  expect(journal.load(() => false)).toEqual([])
  expect(process.memoryUsage().arrayBuffers - beforeBytes).toBeLessThan(32 * bodyBytes)
  journal.appendSleeping(unwound)
  expect(
    journal
      .sleepingTo(
        hashOf(97),
        () => undefined,
        () => false,
      )
      .map(({ number }) => number),
  ).toEqual([...numbers, 97])
  const parentOf = (hash: Hash): Hash | undefined => (hash === hashOf(97) ? hashOf(96) : undefined)
  expect(journal.sleepingTo(hashOf(97), parentOf, (hash) => hash === hashOf(94)).map(({ number }) => number)).toEqual([95, 96])
  for (const number of [1, 96, 97]) expect(journal.read(hashOf(number)).transactions).toEqual(blockAt(number).transactions)
})
