import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readRecordedChain } from '#devnet/recordedChain'
import { systemClock } from '#lib/clock'
import { isFault } from '#lib/fault'
import { type ScriptedIo, scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ServedChain, serveRecordedChain } from '#test/harness/rpc/recordedNode'
import { faultLine } from '../output.ts'
import { importSnapshot } from './snapshotImport.ts'

const name = 'op-ecotone-to-jovian'
const fixture = resolve(import.meta.dirname, '../../../test/fixtures/reth')
const base = mkdtempSync(join(tmpdir(), 'basalt-import-command-'))
const chain = readRecordedChain(name)
const hash = chain.blocks.at(-1)?.hash ?? ''
let node: ServedChain
beforeAll(async () => {
  writeFileSync(join(base, 'rollup.json'), JSON.stringify(chain.rollupJson))
  writeFileSync(join(base, 'genesis.json'), JSON.stringify(chain.genesisJson))
  node = await serveRecordedChain(name)
}, 60_000)
afterAll(async () => {
  await node[Symbol.asyncDispose]()
  rmSync(base, { recursive: true, force: true })
})

type Result = { readonly code: number | undefined; readonly out: string; readonly err: string }

async function run(datadir: string, flags: Record<string, string | true>, source = fixture): Promise<Result> {
  const io: ScriptedIo = scriptedIo({ clock: systemClock })
  const files = { 'rollup.config': join(base, 'rollup.json'), genesis: join(base, 'genesis.json') }
  const raw = { ...files, datadir: join(base, datadir), 'log.level': 'error', ...flags }
  const code = await importSnapshot.run(io, raw, source).catch((error: unknown) => {
    if (!isFault(error)) throw error
    io.err.write(faultLine(error))
    return 2
  })
  return { code, ...io.written }
}

describe('cli/commands/snapshotImport', () => {
  it('imports a snapshot with the transactions of its block from a node, and prints one line', async () => {
    const { code, out, err } = await run('given', { 'start.block-hash': hash, 'source.l2.rpc': node.url, json: true })
    expect([code, err]).toEqual([0, ''])
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([{ block: 171, hash, stateRoot: expect.stringMatching(/^0x/), accounts: 2_159, slots: 2_830, codes: 32, trust: 'given' }])
    const again = await run('given', { 'start.block-hash': hash, 'source.l2.rpc': node.url, json: true })
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('holds a chain already')])
  })

  it.each<[string, Record<string, string>, string | undefined, RegExp]>([
    ['no hash and no L1', {}, undefined, /neither L1 endpoints nor a hash vouch for it.*--l1\.rpc=URL,URL.*--start\.block-hash HASH/],
    [
      'the hash of another block',
      { 'start.block-hash': `0x${'1'.repeat(64)}` },
      undefined,
      /block 171 .* of the snapshot is not trusted: --start\.block-hash is 0x1/,
    ],
    ['no node with the block', { 'start.block-hash': hash }, undefined, /the transactions of block 171 .* are needed.*--source\.l2\.rpc/],
    ['an unknown format', { 'start.block-hash': hash, 'snapshot.format': 'geth' }, undefined, /--format/],
    [
      'a URL that does not answer, without its keys',
      { 'start.block-hash': hash },
      'http://127.0.0.1:1/path-s3cret-01?key=query-s3cret',
      /^basalt: manifest\.json at 127\.0\.0\.1:1 cannot be fetched: (?!.*s3cret)/,
    ],
    ['a folder without a snapshot', { 'start.block-hash': hash }, base, /it has neither manifest\.json nor db\/mdbx\.dat/],
  ])('refuses %s with a line that says what to do, and begins no chain', async (what, flags, source, text) => {
    const { code, err } = await run(what.replaceAll(' ', '-'), flags, source)
    expect([code, err]).toEqual([2, expect.stringMatching(text)])
    expect(existsSync(join(base, what.replaceAll(' ', '-'), 'chain'))).toBe(false)
  })
})
