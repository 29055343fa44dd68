import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { fileOf, parseManifest } from '#snapshot/format/manifest'
import { serveSnapshot } from '#snapshot/serveSnapshot'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { executeInto, Folders } from '#test/harness/snapshot/recordedDatadir'
import { runCli } from '../run.ts'

const folders = new Folders()
const [datadir, out] = [folders.make(), folders.make()]
const base = 6
let chain: RecordedChain
let flags: string[] = []

async function run(...args: string[]) {
  const io = scriptedIo({ clock: systemClock })
  const code = await runCli(args, io)
  return { code, ...io.written }
}

beforeAll(async () => {
  chain = await executeInto(datadir, 'op-bedrock-to-holocene', base + 3, base)
  const files = { rollup: join(datadir, 'rollup.json'), genesis: join(datadir, 'genesis.json') }
  writeFileSync(files.rollup, JSON.stringify(chain.rollupJson))
  writeFileSync(files.genesis, JSON.stringify(chain.genesisJson))
  flags = ['--rollup.config', files.rollup, '--genesis', files.genesis]
}, 120_000)
afterAll(() => folders[Symbol.dispose]())

it('cli/commands/snapshot: creates a snapshot, lists, verifies and restores it over HTTP, and the restored database verifies', async () => {
  const created = await run('snapshot', 'create', ...flags, '--datadir', datadir, '--out', out, '--json')
  expect([created.code, created.err]).toEqual([0, ''])
  const hash = chain.blocks[base]?.hash as string
  expect(JSON.parse(created.out)).toMatchObject({ block: base, hash, flavour: 'minimal' })
  expect(statSync(join(datadir, 'snapshot-key.pem')).mode & 0o777).toBe(0o600)
  await using server = await serveSnapshot(out, { host: '127.0.0.1', port: 0 })
  expect(JSON.parse((await run('snapshot', 'list', server.url, '--json')).out)).toMatchObject({ block: base, trust: 'none' })
  const untrusted = await run('snapshot', 'verify', server.url, ...flags)
  expect([untrusted.code, untrusted.err]).toEqual([2, expect.stringContaining('--start.block-hash')])
  const trusted = [...flags, '--start.block-hash', hash, '--json']
  expect(JSON.parse((await run('snapshot', 'verify', server.url, ...trusted)).out)).toMatchObject({ block: base, hash, trust: 'given' })
  const restored = folders.make()
  const done = await run('snapshot', 'restore', server.url, ...trusted, '--datadir', restored)
  expect([done.code, done.err]).toEqual([0, ''])
  expect(JSON.parse(done.out)).toMatchObject({ block: base, hash, trust: 'given' })
  const verified = await run('db', 'verify', '--datadir', restored)
  expect([verified.code, verified.out.split('\n').at(-2)]).toEqual([0, 'no differences'])
  const stats = await run('db', 'stats', '--datadir', restored)
  expect(stats.out).toMatch(/oldest state: block 6, oldest proof: block 6/)
}, 120_000)

/** Copies a snapshot without the chunks of its state, so that a restore ends once it has begun. */
function withoutState(from: string): string {
  const to = folders.make()
  const { manifest } = parseManifest(readFileSync(join(from, 'manifest.json')), from)
  const state = new Set(manifest.chunks.filter(({ kind }) => kind === 'accounts' || kind === 'slots').map(fileOf))
  for (const file of readdirSync(from)) if (!state.has(file)) copyFileSync(join(from, file), join(to, file))
  return to
}

it('cli/commands/snapshot: the command that continues a restore names the chain, and no key of the URL is stored (STATE_UNFINISHED)', async () => {
  await using server = await serveSnapshot(withoutState(out), { host: '127.0.0.1', port: 0 })
  const keys = ['user-s3cret', 'pass-s3cret', 'path-s3cret-01', 'query-s3cret']
  const [user, password, path, query] = keys
  const { host } = new URL(server.url)
  const url = `http://${user}:${password}@${host}/${path}?key=${query}`
  const trusted = [...flags, '--start.block-hash', chain.blocks[base]?.hash as string]
  const starts = {
    restore: ['snapshot', 'restore', url, ...trusted],
    node: ['node', '--mode', 'execution', '--snapshot', url, ...trusted, '--log.format', 'json'],
  }
  for (const [name, line] of Object.entries(starts)) {
    const restored = folders.make()
    const ended = await run(...line, '--datadir', restored)
    expect([name, ended.code, ended.err]).toEqual([name, 2, expect.stringContaining('CHUNK_UNAVAILABLE')])
    const refused = await run('snapshot', 'create', ...flags, '--datadir', restored, '--out', folders.make())
    expect([name, refused.code, refused.err]).toEqual([name, 2, expect.stringMatching(/to continue: .*\(STATE_UNFINISHED\)/)])
    const shown = `http://${host}/(secret)`
    const command = `basalt snapshot restore ${shown} ${trusted.join(' ')} --datadir ${restored}`
    expect(refused.err).toContain(name === 'restore' ? command : `the same basalt node with --snapshot ${shown}`)
    const texts = [readFileSync(join(restored, 'chain', 'data.mdb'), 'latin1'), ended.err, ended.out, refused.err]
    expect(keys.filter((key) => texts.some((text) => text.includes(key)))).toEqual([])
  }
}, 120_000)

it('cli/commands/snapshot: serves files of a snapshot only, with ranges', async () => {
  await using server = await serveSnapshot(out, { host: '127.0.0.1', port: 0 })
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') => fetch(`${server.url}/${path}`, { method, headers })
  for (const path of ['', 'snapshot-key.pem', '..%2f..%2fetc%2fpasswd', '../rollup.json', `${'a'.repeat(64)}.zst`])
    expect((await get(path)).status).toBe(404)
  expect((await get('manifest.json', {}, 'POST')).status).toBe(405)
  const whole = Buffer.from(await (await get('manifest.json')).arrayBuffer())
  const part = await get('manifest.json', { range: 'bytes=10-' })
  expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, whole.subarray(10)])
  expect((await get('manifest.json', { range: `bytes=${whole.length}-` })).status).toBe(416)
})

it('cli/commands/snapshot: creates no snapshot, key or folder of a data directory that is not there', async () => {
  const missing = join(folders.make(), 'none')
  const created = await run('snapshot', 'create', ...flags, '--datadir', missing, '--out', out)
  expect([created.code, created.err]).toEqual([2, expect.stringContaining(`there is no database ${join(missing, 'chain', 'data.mdb')}`)])
  expect(existsSync(missing)).toBe(false)
})

it('cli/commands/snapshot: restores an archive and recorded proofs, both verify, and a source without proofs is refused (PROOFS_MISSING)', async () => {
  const hash = chain.blocks[base]?.hash as string
  const create = (flavour: string, to: string) =>
    run('snapshot', 'create', ...flags, '--datadir', datadir, '--out', to, '--flavour', flavour, '--json')
  const restore = async (from: string): Promise<string> => {
    const restored = folders.make()
    const done = await run('snapshot', 'restore', from, ...flags, '--start.block-hash', hash, '--json', '--datadir', restored)
    expect([done.code, done.err]).toEqual([0, ''])
    expect(JSON.parse(done.out)).toMatchObject({ block: base, oldestState: 0 })
    const verified = await run('db', 'verify', '--datadir', restored)
    expect([verified.code, verified.out.split('\n').at(-2)]).toEqual([0, 'no differences'])
    return restored
  }
  const [archive, proofs] = [folders.make(), folders.make()]
  expect((await create('archive', archive)).code).toBe(0)
  const stats = await run('db', 'stats', '--datadir', await restore(archive))
  expect(stats.out).toMatch(/oldest state: block 0, oldest proof: block 6/)
  const missing = await create('proofs', proofs)
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('PROOFS_MISSING')])
  expect((await run('proofs', 'init', '--from', '0', '--datadir', datadir)).code).toBe(0)
  expect((await create('proofs', proofs)).code).toBe(0)
  const checked = await run('proofs', 'verify', '--blocks', 'all', '--datadir', await restore(proofs))
  expect([checked.code, checked.out]).toEqual([0, expect.stringMatching(/6 .*blocks/)])
}, 120_000)

it('cli/commands/snapshot: refuses a key that others may read (SNAPSHOT_KEY_BAD)', async () => {
  const key = join(datadir, 'open.pem')
  writeFileSync(key, 'secret', { mode: 0o644 })
  const open = await run('snapshot', 'create', ...flags, '--datadir', datadir, '--out', folders.make(), '--snapshot.key', key)
  expect([open.code, open.err]).toEqual([2, expect.stringContaining('SNAPSHOT_KEY_BAD')])
  expect(open.err).not.toContain('secret')
})
