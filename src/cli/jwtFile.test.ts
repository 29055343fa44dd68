import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, it } from 'vitest'
import { isFault } from '#lib/fault'
import { agreeWithSecretFile, isSecretFileUnused, sharedSecret } from './jwtFile.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-jwt-'))
afterAll(() => rmSync(dir, { recursive: true }))
const hex = 'c0'.repeat(32)
function file(name: string, content: string, mode = 0o600): string {
  const path = join(dir, name)
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

it('cli/jwtFile: creates a secret once, with its folder, readable by its owner only, and reads the same one later', () => {
  const path = join(dir, 'new/folder/jwt.hex')
  const made = sharedSecret(path)
  expect(made).toHaveLength(32)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(dir, 'new')).mode & 0o777).toBe(0o700)
  expect(readFileSync(path, 'utf8')).toBe(Buffer.from(made).toString('hex'))
  expect(sharedSecret(path)).toEqual(made)
  expect(readdirSync(join(dir, 'new/folder'))).toEqual(['jwt.hex'])
  expect(sharedSecret(join(dir, 'other.hex'))).not.toEqual(made)
})

it('cli/jwtFile: gives all processes that start at once the same secret', async () => {
  const path = join(dir, 'race.hex')
  const module = resolve(import.meta.dirname, 'jwtFile.ts')
  const script = `import { sharedSecret } from ${JSON.stringify(module)}; process.stdout.write(Buffer.from(sharedSecret(process.argv[1])).toString('hex'))`
  const starts = Array.from({ length: 4 }, () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, path], { cwd: resolve(import.meta.dirname, '../..') }),
  )
  const secrets = new Set((await Promise.all(starts)).map(({ stdout }) => stdout))
  expect([...secrets]).toEqual([readFileSync(path, 'utf8')])
}, 30_000)

it.each([
  ['0x and a line end', `0x${hex}\n`],
  ['capitals', hex.toUpperCase()],
])('cli/jwtFile: accepts a file with %s', (what, content) => {
  expect(Buffer.from(sharedSecret(file(what, content))).toString('hex')).toBe(hex)
})

it.each<[string, string, number, RegExp]>([
  ['too short', 'abcd', 0o600, /4 characters are not 64 hex digits$/],
  ['too long', `${hex}00`, 0o600, /66 characters are not 64 hex digits$/],
  ['no hex', 'g'.repeat(64), 0o600, /64 characters are not 64 hex digits$/],
  ['empty', '', 0o600, /0 characters are not 64 hex digits$/],
  ['huge', hex.repeat(100_000), 0o600, /1024 characters are not 64 hex digits$/],
  ['readable by all', hex, 0o644, /others may read it \(mode 644\)$/],
])('cli/jwtFile: names a file that is %s without its content (JWT_FILE_BAD)', (what, content, mode, says) => {
  const path = file(`bad ${what}`, content, mode)
  expect(() => sharedSecret(path)).toThrow(expect.objectContaining({ code: 'JWT_FILE_BAD', message: expect.stringMatching(says) }))
  expect(readFileSync(path, 'utf8')).toBe(content)
  expect(() => sharedSecret(path)).not.toThrow(/c0c0|gggg|abcd/)
})

it('cli/jwtFile: names the path when the file cannot be created or read (JWT_FILE_UNWRITABLE, UNREADABLE_FILE)', () => {
  const below = join(file('plain', 'x'), 'jwt.hex')
  expect(() => sharedSecret(below)).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/UNWRITABLE|UNREADABLE/), message: expect.stringContaining(below) }),
  )
  const folder = join(dir, 'folder')
  mkdirSync(folder, { mode: 0o700 })
  expect(() => sharedSecret(folder)).toThrow(expect.objectContaining({ code: 'UNREADABLE_FILE' }))
})

/** Returns the code of the fault that a function throws; 'none': it succeeds. */
function codeOf(run: () => void): string {
  try {
    run()
    return 'none'
  } catch (error) {
    return isFault(error) ? error.code : String(error)
  }
}

it.each<[string, string | undefined, boolean, string]>([
  ['absent', undefined, false, 'none'],
  ['the same', hex, false, 'none'],
  ['another', 'd1'.repeat(32), true, 'JWT_CONFLICT'],
  ['no secret', 'abcd', true, 'JWT_FILE_BAD'],
])('cli/jwtFile: compares a given secret with a file that is %s', (what, content, isUnused, code) => {
  const path = content === undefined ? join(dir, 'absent.hex') : file(`beside ${what}`, content)
  expect(isSecretFileUnused(hex, path)).toBe(isUnused)
  expect(codeOf(() => agreeWithSecretFile(hex, path))).toBe(code)
  expect(existsSync(path)).toBe(content !== undefined)
})
