// Makes test/fixtures/state-tests.json.zst: 500 cases of the public state tests without the slowest: the lowest of each folder by hash of its name, then
// the lowest of all.
import { writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { toHex } from '#lib/hex'
import { keccak256Text } from '#lib/keccak'
import { publicStateTestFiles, slownessOf, stateTestsIn } from '#test/vectors/publicStateTests'
import { caseId, type StateTest, type StateTestCase } from '#test/vectors/stateTestCases'

const sampleSize = 500
const target = resolve(import.meta.dirname, '../test/fixtures/state-tests.json.zst')

type Draw = { readonly folder: string; readonly hash: string; readonly test: StateTest; readonly stateTestCase: StateTestCase }

function allDraws(tests: Iterable<StateTest>): Draw[] {
  const draws: Draw[] = []
  for (const test of tests) {
    for (const stateTestCase of test.cases) {
      const hash = toHex(keccak256Text(caseId(test, stateTestCase)))
      draws.push({ folder: dirname(test.file), hash, test, stateTestCase })
    }
  }
  return draws.sort((a, b) => (a.hash < b.hash ? -1 : 1))
}

/** Selects the lowest of each folder, then the lowest of all. */
function sampleOf(draws: readonly Draw[]): Set<Draw> {
  const sample = new Set(new Map(draws.toReversed().map((draw) => [draw.folder, draw] as const)).values())
  for (const draw of draws) {
    if (sample.size >= sampleSize) break
    sample.add(draw)
  }
  return sample
}

const sample = sampleOf(allDraws(publicStateTestFiles((file) => slownessOf(file) === 0).flatMap(stateTestsIn)))
const tests = new Map<StateTest, StateTestCase[]>()
for (const { test, stateTestCase } of sample) tests.set(test, [...(tests.get(test) ?? []), stateTestCase])
const content = [...tests]
  .map(([test, cases]): StateTest => ({ ...test, cases }))
  .sort((a, b) => (a.file + a.name < b.file + b.name ? -1 : 1))
const json = Buffer.from(JSON.stringify(content))
const compressed = zstdCompressSync(json, {
  params: { [constants.ZSTD_c_compressionLevel]: 22, [constants.ZSTD_c_enableLongDistanceMatching]: 1 },
})
writeFileSync(target, compressed)
const folders = new Set([...sample].map(({ folder }) => folder)).size
console.log(`${sample.size} cases of ${folders} folders, ${json.length} bytes, ${compressed.length} compressed`)
