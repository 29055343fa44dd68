import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isFault } from '#lib/fault'
import { dice } from '#test/harness/dice'
import { parseManifest } from './manifest.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../../../test/fixtures/reth/manifest.json'), 'utf8')
/** Returns the manifest with another value at a path of keys. */
function changed(...changes: readonly (readonly [path: string, value: unknown])[]): string {
  const manifest = JSON.parse(text)
  for (const [path, value] of changes) {
    const keys = path.split('.')
    const last = keys.pop() ?? ''
    Object.assign(
      keys.reduce((part, key) => part[key], manifest),
      { [last]: value },
    )
  }
  return JSON.stringify(manifest)
}
const output = JSON.parse(text).components.state.output_files[0]

describe('snapshot/reth/manifest', () => {
  it('reads block, chain, and the archives of state and headers', () => {
    const { block, chainId, baseUrl, state, headers } = parseManifest(text, 'manifest.json')
    expect([block, chainId, baseUrl, state.path, state.sizeBytes]).toEqual([171, 90_002, undefined, 'state.tar.zst', 218_143])
    expect(state.files.map(({ path, sizeBytes }) => [path, sizeBytes])).toEqual([
      ['db/database.version', 1],
      ['db/mdbx.dat', 1_626_112],
    ])
    expect(headers.map(({ path, first, last, files }) => [path, first, last, files.length])).toEqual([
      ['headers-0-499999.tar.zst', 0, 499_999, 3],
    ])
  })

  it('takes the paths of chunks and the base URL that it names', () => {
    const manifest = parseManifest(
      changed(['base_url', 'https://example.com/base/'], ['components.headers.chunk_files', ['static_files/headers.tar.zst']]),
      'manifest.json',
    )
    expect([manifest.baseUrl, manifest.headers[0]?.path]).toEqual(['https://example.com/base/', 'static_files/headers.tar.zst'])
  })

  it.each<[string, string, unknown]>([
    ['no components', 'components', undefined],
    ['a negative block', 'block', -1],
    ['a block beyond 2^53', 'block', 2 ** 60],
    ['a path to a parent folder', 'components.state.file', '../state.tar.zst'],
    ['a path from the root', 'components.state.file', '/etc/passwd'],
    ['a path with a folder of dots', 'components.state.file', 'a/../../b'],
    ['a path that is a URL', 'components.state.file', 'https://example.com/state'],
    ['a path with a backslash', 'components.state.file', 'a\\b'],
    ['an output path to a parent folder', 'components.state.output_files.0.path', '../x'],
    ['a hash that is none', 'components.state.output_files.0.blake3', 'ff'],
    ['a size that is no number', 'components.state.output_files.0.size', '1'],
    ['no output files', 'components.state.output_files', []],
    ['too many output files', 'components.state.output_files', Array(17).fill(output)],
    ['lists of chunks of different lengths', 'components.headers.chunk_sizes', []],
    ['no chunk', 'components.headers', { ...JSON.parse(text).components.headers, chunk_sizes: [], chunk_output_files: [] }],
    ['chunks of no blocks', 'components.headers.blocks_per_file', 0],
    ['a base that is a file', 'base_url', 'file:///etc'],
  ])('refuses %s (SNAPSHOT_FILE_DAMAGED)', (_, path, value) => {
    expect(() => parseManifest(changed([path, value]), 'manifest.json')).toThrow(/^manifest.json is damaged at /)
  })

  it('refuses another storage version (SNAPSHOT_FORMAT_UNSUPPORTED)', () => {
    expect(() => parseManifest(changed(['storage_version', 1]), 'manifest.json')).toThrow('storage version 1')
  })

  it('refuses damaged text or reads a manifest of plain paths', () => {
    const roll = dice(3)
    for (let i = 0; i < 300; i++) {
      const bytes = Buffer.from(text)
      for (let flips = roll(3); flips >= 0; flips--) bytes[roll(bytes.length)] = 32 + roll(95)
      try {
        const { state, headers } = parseManifest(
          bytes.subarray(0, roll(10) === 0 ? roll(bytes.length) : bytes.length).toString(),
          'manifest.json',
        )
        for (const { path, files } of [state, ...headers])
          for (const name of [path, ...files.map((file) => file.path)]) expect(name).not.toMatch(/\.\.|^\/|:/)
      } catch (error) {
        expect(isFault(error)).toBe(true)
      }
    }
  })
})
