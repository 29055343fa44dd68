import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createLog } from '#lib/log'
import { createManualClock } from '#test/harness/clock'
import { readApiKeys, watchApiKeys } from './apiKeys.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-keys-'))
afterAll(() => rmSync(dir, { recursive: true }))
let files = 0

function watched(text: string) {
  const path = join(dir, String(files++))
  writeFileSync(path, text)
  const clock = createManualClock()
  const lines: string[] = []
  const told: string[][] = []
  const log = createLog('info', { write: (line) => lines.push(line) })
  const watch = watchApiKeys({ clock, log }, path, readApiKeys(path), (keys) => told.push(keys.map(({ key }) => key)))
  return { path, clock, lines, told, watch }
}

it('cli/apiKeys: reports each added or removed key once', async () => {
  const { path, clock, told, lines } = watched('alice-123 5\n')
  await clock.advanceMs(20_000)
  expect(told).toEqual([])
  writeFileSync(path, 'alice-123 5\nbobby-456 7\n')
  await clock.advanceMs(20_000)
  writeFileSync(`${path}.new`, 'bobby-456 7\n')
  renameSync(`${path}.new`, path)
  await clock.advanceMs(5_000)
  expect(told).toEqual([['alice-123', 'bobby-456'], ['bobby-456']])
  expect(lines.join('')).not.toMatch(/alice|bobby/)
})

it('cli/apiKeys: keeps the keys and logs once when the file is unusable; reads it again when it is valid', async () => {
  const { path, clock, told, lines } = watched('alice-123 5\n')
  writeFileSync(path, 'alice-123 much\n')
  await clock.advanceMs(20_000)
  rmSync(path)
  await clock.advanceMs(20_000)
  expect(told).toEqual([])
  expect(lines.map((line) => JSON.parse(line).error.code)).toEqual(['BAD_FLAG', 'UNREADABLE_FILE'])
  writeFileSync(path, 'alice-123 6\n')
  await clock.advanceMs(5_000)
  expect(told).toEqual([['alice-123']])
})

it('cli/apiKeys: does not check the file after the watch is disposed', async () => {
  const { path, clock, told, watch } = watched('alice-123 5\n')
  writeFileSync(path, 'bobby-456 7\n')
  watch[Symbol.dispose]()
  await clock.advanceMs(20_000)
  expect([told, clock.waiting]).toEqual([[], 0])
})
