import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ScriptedServer, serveNode } from '#test/harness/process/nodeServer'
import { runCli } from '../run.ts'
import { packageVersion } from './version.ts'
import { isNewer } from './versionCheck.ts'

async function check(page: { readonly status?: number; readonly body: string }) {
  const server: ScriptedServer = { pages: { '/index.json': page } }
  await using served = await serveNode(server)
  const env = { BASALT_RELEASE_INDEX: `http://user:s3cret@127.0.0.1:${served.port}/index.json` }
  const io = scriptedIo({ clock: systemClock, env })
  const code = await runCli(['version', '--check', '--json'], io)
  return { code, ...io.written }
}

it('cli/commands/versionCheck: ends with 1 when the index has a newer version, with 0 otherwise', async () => {
  const newer = await check({ body: '{"latest":"99.1.0"}' })
  expect([newer.code, JSON.parse(newer.out)]).toEqual([1, { basalt: packageVersion(), node: process.versions.node, latest: '99.1.0' }])
  expect((await check({ body: JSON.stringify({ latest: packageVersion() }) })).code).toBe(0)
  expect((await check({ body: '{"latest":"0.0.1"}' })).code).toBe(0)
})

it.each([
  ['no JSON', { body: 'x' }, /that are not JSON/],
  ['no version', { body: '{"latest":"new"}' }, /it has no version under latest/],
  ['null', { body: 'null' }, /it has no version under latest/],
  ['another page', { status: 404, body: '{}' }, /HTTP 404/],
  ['an error', { status: 500, body: '' }, /HTTP 500/],
  ['a huge body', { body: `{"latest":"${'1'.repeat(70_000)}"}` }, /more than 65536 bytes/],
])('cli/commands/versionCheck: names the reason for %s, without the secret of the URL (RELEASE_INDEX_BAD)', async (_name, page, reason) => {
  const { code, err } = await check(page)
  expect([code, err]).toEqual([2, expect.stringMatching(reason)])
  expect(err).toContain('RELEASE_INDEX_BAD')
  expect(err).not.toContain('s3cret')
})

it('cli/commands/versionCheck: demands an index (MISSING_FLAG)', async () => {
  const io = scriptedIo()
  expect([await runCli(['version', '--check'], io), io.written.err]).toEqual([2, expect.stringContaining('--release.index is needed')])
})

it.each([
  ['1.2.3', '1.2.2', true],
  ['1.10.0', '1.9.9', true],
  ['1.0.0', '1.0.0', false],
  ['1.0.0', '1.0.1', false],
  ['1.0.0', '1.0.0-rc.1', true],
  ['1.0.0-rc.1', '1.0.0', false],
  ['1.0', '1.0.0', undefined],
] as const)('cli/commands/versionCheck: compares %s with %s', (a, b, expected) => {
  expect(isNewer(a, b)).toBe(expected)
})
