import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { fromHex } from '#lib/hex'
import { type PrecompileVector, precompileOfVectors } from '#test/harness/evm/precompileVectors'
import { readShared, sharedDataDir } from '#test/harness/sharedData'

/** Inputs of the fuzzer from other sources. */
export type Corpus = {
  /** Run-time code of real contracts. */
  readonly codes: readonly Uint8Array[]
  /** Short valid inputs of precompiles, by address. */
  readonly precompileInputs: ReadonlyMap<bigint, readonly Uint8Array[]>
}

const fixtures = resolve(import.meta.dirname, '../../fixtures')
const readFixture = (name: string): unknown => JSON.parse(zstdDecompressSync(readFileSync(resolve(fixtures, name))).toString('utf8'))
const mostInputBytes = 600

/** Collects every long hex text whose name marks it as code. */
function collectCodes(json: unknown, codes: Set<string>, name = ''): void {
  if (typeof json === 'string') {
    if (/^codes?$/.test(name) && /^0x[0-9a-f]{60,}$/i.test(json)) codes.add(json)
  } else if (Array.isArray(json)) for (const item of json) collectCodes(item, codes, name)
  else if (typeof json === 'object' && json !== null) for (const [key, value] of Object.entries(json)) collectCodes(value, codes, key)
}

function sharedCodes(codes: Set<string>): void {
  if (!existsSync(sharedDataDir)) return
  for (const folder of ['chain', 'bench']) {
    for (const file of readdirSync(resolve(sharedDataDir, folder)).sort()) {
      if (file.endsWith('.json')) collectCodes(JSON.parse(readShared(`${folder}/${file}`).toString('utf8')), codes)
    }
  }
}

/** `all`: includes the recorded genesis files if present. `committed`: only the sample of public tests in the repository. */
export function readCorpus(which: 'all' | 'committed'): Corpus {
  const codes = new Set<string>()
  collectCodes(readFixture('state-tests.json.zst'), codes)
  if (which === 'all') sharedCodes(codes)
  const precompileInputs = new Map<bigint, Uint8Array[]>()
  const vectors = readFixture('precompile-vectors.json.zst') as Record<string, PrecompileVector[]>
  for (const [file, list] of Object.entries(vectors)) {
    const address = precompileOfVectors(file)
    if (address === undefined) continue
    const inputs = list.map(({ Input }) => Uint8Array.from(Buffer.from(Input, 'hex'))).filter(({ length }) => length <= mostInputBytes)
    precompileInputs.set(address, [...(precompileInputs.get(address) ?? []), ...inputs])
  }
  return { codes: [...codes].map(fromHex), precompileInputs }
}
