import { readSharedJson } from '#test/harness/sharedData'
import { readSharedTar } from '#test/harness/tar'
import { type LaterPosts, type PublicStateTest, type StateTest, stateTestOf } from './stateTestCases.ts'

/** Unparsed file of the public state tests, with its post states under later forks by test. It can be sent to a thread. */
export type StateTestFile = {
  /** Path below GeneralStateTests. */
  readonly file: string
  readonly json: string
  readonly later: Readonly<Record<string, LaterPosts>>
}

/** Tests that take up to minutes, by name, with their approximate duration in cases. */
const slowTests: readonly (readonly [name: RegExp, cases: number])[] = [
  [/MaxRounds/, 60_000],
  [/loopMul/, 40_000],
  [/loopExp/, 6_000],
  [/50000/, 1_500],
]

/** Additional duration of a file, in cases; 0 for most. */
export const slownessOf = (file: string): number => slowTests.find(([name]) => name.test(file))?.[1] ?? 0

/** Returns the files whose name the filter accepts. */
export function publicStateTestFiles(wantsFile: (file: string) => boolean = () => true): StateTestFile[] {
  const { posts } = readSharedJson<{ posts: Record<string, Record<string, LaterPosts>> }>('spec/state-tests-prague-osaka.json.zst')
  return [...readSharedTar('spec/general-state-tests.tar.zst')]
    .map(([path, content]) => ({ file: path.replace('GeneralStateTests/', ''), content }))
    .filter(({ file }) => file.endsWith('.json') && wantsFile(file))
    .map(({ file, content }) => ({ file, json: content.toString('utf8'), later: posts[file] ?? {} }))
}

/** Returns the tests of a file with the post states of Paris, Shanghai, Cancun, Prague and Osaka. */
export function stateTestsIn({ file, json, later }: StateTestFile): StateTest[] {
  const tests = JSON.parse(json) as Record<string, PublicStateTest>
  return Object.entries(tests).map(([name, test]) => stateTestOf(file, name, test, later[name] ?? {}))
}
