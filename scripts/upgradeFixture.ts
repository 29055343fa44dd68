// node bin/run.js scripts/upgradeFixture.ts CHECKOUT: has an older checkout import a part of a recorded chain, and adds its store to the fixtures.
// CHECKOUT: a worktree at the last commit of the schema (`git log -S'version: N' -- src/store/schema.ts`), with node_modules.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { encodePayload } from '#engine/payloadJson'
import { openLmdbKv } from '#store/lmdbKv'
import { tables } from '#store/tables'
import { recordedProcessChain } from '../test/harness/process/chain.ts'
import { chainName, fixtureSchemas, fixturesFile, importedBlocks, schemaOf, unpackFixture } from '../test/upgrade/fixtures.ts'

const [checkout = ''] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'basalt-upgrade-'))
try {
  const { genesisJson, blocks } = recordedProcessChain(chainName)
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const lines = blocks
    .slice(1, importedBlocks + 1)
    .map((payload) => JSON.stringify({ p: encodePayload(payload), root: payload.parentBeaconBlockRoot }))
  const args = ['import', file('blocks.jsonl', lines.join('\n')), '--genesis', file('genesis.json', JSON.stringify(genesisJson)), '--json']
  const datadir = join(folder, 'data')
  mkdirSync(datadir)
  const printed = execFileSync(process.execPath, [resolve(checkout, 'bin/basalt.js'), ...args, '--datadir', datadir], {
    cwd: checkout,
    encoding: 'utf8',
  })
  console.log(printed.trim())
  // a look that changes nothing: the schema before the migration
  const kv = openLmdbKv(join(datadir, 'chain'), Object.values(tables))
  const schema = schemaOf(kv)
  await kv[Symbol.asyncDispose]()
  const stores = join(folder, 'stores')
  for (const older of fixtureSchemas()) unpackFixture(older, join(stores, `schema${older}`))
  rmSync(join(stores, `schema${schema}`), { recursive: true, force: true })
  renameSync(datadir, join(stores, `schema${schema}`))
  const names = ['--exclude=lock.mdb', '--exclude=LOCK', '--sparse', '--owner=0', '--group=0', '--mtime=@0', '--sort=name', '-c', '.']
  // the stores have most of their bytes in common, at a distance of a store
  const packed = zstdCompressSync(execFileSync('tar', ['-C', stores, ...names], { maxBuffer: 1 << 30 }), {
    params: { [constants.ZSTD_c_compressionLevel]: 22, [constants.ZSTD_c_windowLog]: 25, [constants.ZSTD_c_enableLongDistanceMatching]: 1 },
  })
  writeFileSync(fixturesFile, packed)
  console.log(`${fixturesFile}: schemas ${fixtureSchemas().join(', ')}, ${packed.length} bytes`)
} finally {
  rmSync(folder, { recursive: true })
}
