import { readSharedJson } from '#test/harness/sharedData'
import { readSharedTar } from '#test/harness/tar'
import { type LaterPosts, type PublicStateTest, type StateTest, stateTestOf } from './stateTestCases.ts'

/** The public state tests with the post states of Paris, Shanghai, Cancun and Prague, file by file. */
export function* publicStateTests(wantsFile: (file: string) => boolean): Iterable<StateTest> {
  const later = readSharedJson<{ posts: Record<string, Record<string, LaterPosts>> }>('spec/state-tests-prague-osaka.json.zst').posts
  for (const [path, content] of readSharedTar('spec/general-state-tests.tar.zst')) {
    const file = path.replace('GeneralStateTests/', '')
    if (!file.endsWith('.json') || !wantsFile(file)) continue
    const tests = JSON.parse(content.toString('utf8')) as Record<string, PublicStateTest>
    for (const [name, test] of Object.entries(tests)) yield stateTestOf(file, name, test, later[file]?.[name] ?? {})
  }
}
