import { readShared, readSharedJson } from '#test/harness/sharedData'
import { type LaterPosts, type PublicStateTest, type StateTest, stateTestOf } from './stateTestCases.ts'

const block = 512

/** The regular files of a tar archive: name and content. */
function* tarFiles(archive: Buffer): Iterable<{ name: string; content: Buffer }> {
  const text = (from: number, length: number): string => archive.toString('latin1', from, from + length).replace(/\0.*$/s, '')
  for (let at = 0; at + block <= archive.length && archive[at] !== 0; ) {
    const size = Number.parseInt(text(at + 124, 12), 8)
    const prefix = text(at + 345, 155)
    const type = text(at + 156, 1)
    const content = at + block
    if (type === '0' || type === '') {
      yield { name: prefix ? `${prefix}/${text(at, 100)}` : text(at, 100), content: archive.subarray(content, content + size) }
    }
    at = content + Math.ceil(size / block) * block
  }
}

/** All public state tests with the post states of Paris, Shanghai, Cancun and Prague, file by file. */
export function* publicStateTests(wantsFile: (file: string, index: number) => boolean): Iterable<StateTest> {
  const later = readSharedJson<{ posts: Record<string, Record<string, LaterPosts>> }>('spec/state-tests-prague-osaka.json.zst').posts
  let index = 0
  for (const { name, content } of tarFiles(readShared('spec/general-state-tests.tar.zst'))) {
    if (!name.endsWith('.json')) continue
    const file = name.replace(/^(\.\/)?GeneralStateTests\//, '')
    if (!wantsFile(file, index++)) continue
    const tests = JSON.parse(content.toString('utf8')) as Record<string, PublicStateTest>
    for (const [test, body] of Object.entries(tests)) yield stateTestOf(file, test, body, later[file]?.[test] ?? {})
  }
}
