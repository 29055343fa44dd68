import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { dice } from '#test/harness/dice'
import { sampleOf } from '#test/harness/sample'
import { judgeDamages, judgeSnapshot } from '#test/harness/snapshot/rethDamage'
import { openSnapshotFiles } from './archives/snapshotFiles.ts'

/** Damages, of which `npm run test:data` runs 2,000. */
const count = sampleOf(20, 300)
const fixture = resolve(import.meta.dirname, '../../../test/fixtures/reth')

it('snapshot/reth: a damaged snapshot is refused, or has the same state; never a hang, a crash or another state', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'basalt-damage-'))
  try {
    const deps = { fetch, clock: systemClock, random: () => 0, signal: new AbortController().signal, onProgress: () => {} }
    const files = await openSnapshotFiles(deps, { source: fixture, workDir: dir, ancestors: 255 })
    await files.headersDir()
    await files.databasePath()
    const expected = JSON.parse(readFileSync(join(fixture, 'head.json'), 'utf8'))
    expect(judgeSnapshot(dir, expected)).toBe('harmless')
    const paths = ['db/mdbx.dat', ...['', '.conf', '.off'].map((ending) => `static_files/static_file_headers_0_499999${ending}`)]
    const sound = paths.map((path) => [path, readFileSync(join(dir, path))] as const)
    const counts = judgeDamages(dir, sound, expected, { count, roll: dice(41), onSlow: () => {} })
    expect(counts.refused).toBeGreaterThan(count / 4)
    expect(counts.refused + counts['root differs'] + counts['hash differs'] + counts.harmless).toBe(count)
  } finally {
    rmSync(dir, { recursive: true })
  }
})
