import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { runCli } from '../../run.ts'
import { type Explanation, explanations } from './explain.ts'

async function run(...args: readonly string[]) {
  const io = scriptedIo()
  const code = await runCli(['explain', ...args], io)
  return { code, ...io.written }
}

it('cli/commands/explain: explains every code of the reference of faults', () => {
  const reference = readFileSync(new URL('../../../../docs/reference/faults.md', import.meta.url), 'utf8')
  const codes = [...reference.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, code]) => code)
  const known = new Set(explanations().map(({ code }) => code))
  expect(codes.length).toBeGreaterThan(150)
  expect(codes.filter((code) => code === undefined || !known.has(code))).toEqual([])
})

it('cli/commands/explain: prints meaning, effect and remedy of a code, in any case', async () => {
  const { code, out } = await run('disk_full')
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^code +DISK_FULL, fault\nmeaning +.+\neffect +the node tries again.*\nwhat to do +.+\n$/),
  ])
})

it('cli/commands/explain: explains a whole reason of /readyz with the fault in it', async () => {
  const { out } = await run('waiting for L1 blobs for 90 s: none of 2 endpoints has the blobs (BLOB_UNAVAILABLE)', '--json')
  expect((JSON.parse(out) as readonly Explanation[]).map(({ code, kind }) => [code, kind])).toEqual([
    ['BLOB_UNAVAILABLE', 'fault'],
    ['WAITING', 'reason of /readyz'],
  ])
})

it('cli/commands/explain: names the most similar code for an unknown one (BAD_USAGE)', async () => {
  const { code, err } = await run('DISK_FUL')
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^basalt: no code "DISK_FUL", did you mean DISK_FULL\?; basalt explain list prints all\. .*\(BAD_USAGE\)\n$/),
  ])
  expect((await run('list')).out.split('\n').length).toBeGreaterThan(150)
})

it('cli/commands/explain: prints the runbook of a reason and of an alert, in any case', async () => {
  const sections = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('code ') || line.startsWith('## '))
      .map((line) => line.replaceAll(/ +/g, ' '))
  const reason = await run('DISK_LOW')
  expect(sections(reason.out).slice(-4)).toEqual(['code DISK_LOW, reason of /readyz', '## Look at', '## Do', '## Verify'])
  const alert = await run('basaltl1down')
  expect([alert.code, sections(alert.out)]).toEqual([0, ['code BasaltL1Down, alert', '## Look at', '## Do', '## Verify']])
  expect((await run('BasaltL1Dow')).err).toContain('did you mean BasaltL1Down?')
})
