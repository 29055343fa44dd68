import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { putHeads, readHeads, readHeadsSequence } from '#blockchain/chainStore'
import { u64Bytes } from '#lib/bytes'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { moveBlocks } from '#test/harness/store/movedChain'
import { storedChain } from '#test/harness/store/storedChain'
import { runCli } from '../run.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-db-'))
/** Named after a network, for {network} in --datadir. */
const datadir = join(base, 'base')
beforeAll(() => storedChain(datadir, 12))
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function run(...args: string[]) {
  const io = scriptedIo()
  const code = await runCli(['db', ...args], io)
  return { code, ...io.written }
}

it('cli/commands/db: prints stats for people, and as one line of JSON', async () => {
  const { code, out, err } = await run('stats', '--datadir', datadir)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^ {2}headers +13 +[\d.]+ kB +[\d.]+ k?B +[\d.]+ MB$/m)
  expect(out).toMatch(/^blocks: 13 stored, 0 to 12; oldest state: block 0, oldest proof: block 0$/m)
  expect(out).toMatch(/^blocks per day: 43,200$/m)
  expect(out).toMatch(/full in: [\d.]+ days$/m)
  const json = await run('stats', '--datadir', join(base, '{network}'), '--network', 'base', '--json')
  expect(json.out.split('\n')).toHaveLength(2)
  expect(JSON.parse(json.out)).toMatchObject({ blocks: { head: 12, stored: 13 } })
})

it('cli/commands/db: prints segment files and the growth of accounts and slots among the stats', async () => {
  const moved = join(base, 'moved')
  await storedChain(moved, 25)
  await moveBlocks(moved, 20)
  const { out } = await run('stats', '--datadir', moved)
  const bytes = String.raw`[\d.]+ k?B`
  for (const table of ['headers', 'bodies', 'receipts', 'logIndex'])
    expect(out).toMatch(new RegExp(`^segments of ${table}: 2 files, blocks 0 to 19, ${bytes} for rows of ${bytes}$`, 'm'))
  for (const table of ['accounts', 'storage', 'accountNodes', 'storageNodes'])
    expect(out).toMatch(new RegExp(`^ {2}${table} +[\\d,]+ +[\\d.]+ kB +[\\d.]+ k?B +[\\d.]+ MB$`, 'm'))
  expect(JSON.parse((await run('stats', '--datadir', moved, '--json')).out)).toMatchObject({
    segments: [{ table: 'headers', files: 2 }, { table: 'bodies' }, { table: 'receipts', first: 0, last: 19 }, { table: 'logIndex' }],
  })
})

it('cli/commands/db: needs a subcommand, a directory with a chain, and the network that the directory depends on', async () => {
  expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('BAD_USAGE') })
  expect(await run('stats', '--datadir', join(base, 'none'))).toMatchObject({ code: 2, err: expect.stringContaining('DATABASE_MISSING') })
  expect(await run('stats', '--datadir', join(base, '{network}'))).toMatchObject({ code: 2, err: expect.stringContaining('MISSING_FLAG') })
})

it('cli/commands/db: verifies with exit code 0, and 1 with the damaged rows, their tables and remedies', async () => {
  expect(await run('verify', '--datadir', datadir)).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^checked: .* 13 blocks, .* 12 blocks undone, .* 13 blocks of the log index, up to block 12\nno differences\n$/,
    ),
  })
  const damaged = join(base, 'damaged')
  await storedChain(damaged, 5)
  {
    await using kv = openLmdbKv(join(damaged, 'chain'), Object.values(tables))
    kv.write((tx) => tx.delete(tables.canonical.id, u64Bytes(3)))
  }
  const { code, out } = await run('verify', '--datadir', damaged)
  expect(code).toBe(1)
  expect(out).toMatch(/^canonical 0x0000000000000003: expected 0x[0-9a-f]{64}; found no row\. stop this node: .*$/m)
  expect(out).toMatch(/^damaged: \d differences$/m)
  const json = await run('verify', '--datadir', damaged, '--json', '--verify.restart')
  expect([json.code, json.out.split('\n').length]).toEqual([1, 2])
  expect(JSON.parse(json.out)).toMatchObject({ done: true, differences: [{ table: 'canonical', found: 'no row' }, {}] })
})

it('cli/commands/db: ends an interrupted verification with 130, and shows its progress on a terminal', async () => {
  const io = scriptedIo({ isTerminal: true })
  io.interrupt()
  expect(await runCli(['db', 'verify', '--datadir', datadir], io)).toBe(130)
  expect(io.written.out).toContain('interrupted: the same command continues')
  const next = scriptedIo({ isTerminal: true })
  expect(await runCli(['db', 'verify', '--datadir', datadir], next)).toBe(0)
  expect(next.written.err).toMatch(/verify \w+ {2}\d+\/\d+ rows {2}[\d,]+ rows\/s {2}\d+ s left/)
})

it('cli/commands/db: shows the progress of an export, of pruning and of a copy on a terminal, with rate and time left', async () => {
  const shown = join(base, 'shown')
  await storedChain(shown, 20)
  {
    await using kv = openLmdbKv(join(shown, 'chain'), Object.values(tables))
    kv.write((tx) => {
      const heads = readHeads(tx) ?? expect.fail()
      putHeads(tx, { ...heads, finalized: heads.unsafe }, readHeadsSequence(tx))
    })
  }
  const shownBy = async (...args: string[]): Promise<string> => {
    const io = scriptedIo({ isTerminal: true })
    expect(await runCli(['db', ...args], io)).toBe(0)
    return io.written.err
  }
  const rate = '[\\d,]+ blocks/s {2}\\d+ s left'
  expect(await shownBy('export', join(base, 'shown.jsonl'), '--datadir', shown)).toMatch(new RegExp(`export {2}20/20 blocks {2}${rate}`))
  expect(await shownBy('prune', '--datadir', shown, '--prune.keep', '5b')).toMatch(new RegExp(`prune {2}14/14 blocks {2}${rate}`))
  expect(await shownBy('compact', '--datadir', shown)).toMatch(/compact {2}[\d.]+ k?B\/[\d.]+ kB {2}[\d.]+ k?B\/s {2}(\d+ s left|waiting)/)
})

it('cli/commands/db: says that an interrupted verification starts over when its position cannot be written (VERIFY_NOT_SAVED)', async () => {
  const full = join(base, 'full')
  await storedChain(full, 5)
  mkdirSync(join(full, 'db-verify.json'))
  const io = scriptedIo()
  io.interrupt()
  expect(await runCli(['db', 'verify', '--datadir', full], io)).toBe(130)
  expect(io.written.out).toContain('interrupted: the same command starts over')
  expect(io.written.err).toMatch(/^basalt: the position of the verification cannot be written to .*\(VERIFY_NOT_SAVED\)\n$/)
})

it('cli/commands/db: prunes, prints the oldest state, and needs the states to keep', async () => {
  const pruned = join(base, 'pruned')
  await storedChain(pruned, 20)
  expect(await run('prune', '--datadir', pruned)).toMatchObject({ code: 2, err: expect.stringContaining('MISSING_FLAG') })
  const { code, out } = await run('prune', '--datadir', pruned, '--prune.keep', '5b')
  // the finalized block of an imported chain is its genesis
  const held = 'states from block 0 on stay: blocks after it are not finalized'
  expect([code, out]).toEqual([0, `oldest state: block 0, before: 0; head: 20\n${held}\n`])
  const json = await run('prune', '--datadir', pruned, '--prune.keep', '1d', '--json')
  expect(JSON.parse(json.out)).toMatchObject({ done: true, oldestState: 0, head: 20 })
})

it('cli/commands/db: compacts, prints both sizes, and refuses a running node', async () => {
  const compacted = join(base, 'compacted')
  await storedChain(compacted, 5)
  const { code, out } = await run('compact', '--datadir', compacted)
  expect([code, out]).toEqual([0, expect.stringMatching(/^before: +[\d.]+ kB\nafter: +[\d.]+ kB\n$/)])
  expect(JSON.parse((await run('compact', '--datadir', compacted, '--json')).out)).toEqual({
    bytesBefore: expect.any(Number),
    bytesAfter: expect.any(Number),
  })
  expect(await run('verify', '--datadir', compacted)).toMatchObject({ code: 0 })
  await using _kv = openLmdbKv(join(compacted, 'chain'), Object.values(tables))
  expect(await run('compact', '--datadir', compacted)).toMatchObject({ code: 2, err: expect.stringContaining('DATADIR_LOCKED') })
})
