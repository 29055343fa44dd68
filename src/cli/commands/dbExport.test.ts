import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLog } from '#lib/log'
import { importFile } from '#node/importFile'
import { createManualClock } from '#test/harness/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { storedChain, storedGenesis } from '#test/harness/store/storedChain'
import { readFileLines } from '../files.ts'
import { runCli } from '../run.ts'

const base = mkdtempSync(join(tmpdir(), 'basalt-dbexport-'))
const datadir = join(base, 'first')
beforeAll(() => storedChain(datadir, 15), 60_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))

async function run(...args: string[]) {
  const io = scriptedIo()
  const code = await runCli(['db', ...args], io)
  return { code, ...io.written }
}

it('cli/commands/db: exports blocks, which an import into an empty directory makes the same chain', async () => {
  const file = join(base, 'blocks.jsonl.zst')
  const { code, out } = await run('export', file, '--datadir', datadir, '--json')
  const result = JSON.parse(out) as { readonly hash: string }
  expect([code, result]).toEqual([0, { first: 1, last: 15, hash: expect.stringMatching(/^0x/), blocks: 15 }])
  const second = join(base, 'second')
  const { lines } = readFileLines(file)
  const imported = await importFile({ clock: createManualClock(), log: silentLog }, { genesis: storedGenesis, datadir: second, lines })
  expect(imported).toMatchObject({ imported: 15, head: { number: 15, hash: result.hash } })
  const again = join(base, 'again.jsonl')
  expect(await run('export', again, '--datadir', second)).toMatchObject({ code: 0, out: expect.stringMatching(/^blocks: +15$/m) })
  expect(readFileSync(again, 'utf8')).toBe(zstdDecompressSync(readFileSync(file)).toString('utf8'))
  expect(await run('verify', '--datadir', second)).toMatchObject({ code: 0 })
})

it('cli/commands/db: leaves no file of an export that fails or is interrupted', async () => {
  const file = join(base, 'partial.jsonl')
  expect(await run('export', file, '--datadir', datadir, '--export.to', '99')).toMatchObject({
    code: 2,
    err: expect.stringContaining('EXPORT_RANGE'),
  })
  const io = scriptedIo()
  io.interrupt()
  expect(await runCli(['db', 'export', file, '--datadir', datadir], io)).toBe(130)
  expect([existsSync(file), readdirSync(base).filter((name) => name.endsWith('.part'))]).toEqual([false, []])
  const nowhere = join(base, 'none', 'blocks.jsonl')
  expect(await run('export', nowhere, '--datadir', datadir)).toMatchObject({ code: 2, err: expect.stringContaining('UNWRITABLE_FILE') })
})
