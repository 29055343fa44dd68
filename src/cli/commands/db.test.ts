import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
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
  expect(out).toMatch(/^blocks: 13 stored, 0 to 12; oldest state: block 0$/m)
  expect(out).toMatch(/^blocks per day: 43,200$/m)
  expect(out).toMatch(/full in: [\d.]+ days$/m)
  const json = await run('stats', '--datadir', join(base, '{network}'), '--network', 'base', '--json')
  expect(json.out.split('\n')).toHaveLength(2)
  expect(JSON.parse(json.out)).toMatchObject({ blocks: { head: 12, stored: 13 } })
})

it('cli/commands/db: needs a subcommand, a directory with a chain, and the network that the directory depends on', async () => {
  expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('BAD_USAGE') })
  expect(await run('stats', '--datadir', join(base, 'none'))).toMatchObject({ code: 2, err: expect.stringContaining('DATABASE_MISSING') })
  expect(await run('stats', '--datadir', join(base, '{network}'))).toMatchObject({ code: 2, err: expect.stringContaining('MISSING_FLAG') })
})
