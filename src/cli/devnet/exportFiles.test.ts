import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writeExport } from './exportFiles.ts'

const root = mkdtempSync(join(tmpdir(), 'basalt-export-'))
afterAll(() => rmSync(root, { recursive: true }))
const files = (text: string) => [
  { name: 'genesis.json', text, isSecret: false },
  { name: 'jwt.hex', text: '11'.repeat(32), isSecret: true },
]

it('cli/devnet/exportFiles: writes whole files to a new directory, the secret for its owner only', () => {
  const directory = join(root, 'a', 'b')
  writeExport(directory, files('one'), false)
  expect(readdirSync(directory).toSorted()).toEqual(['genesis.json', 'jwt.hex'])
  expect(readFileSync(join(directory, 'genesis.json'), 'utf8')).toBe('one')
  expect(statSync(join(directory, 'jwt.hex')).mode & 0o777).toBe(0o600)
})

it('cli/devnet/exportFiles: refuses a directory with one of the files and changes nothing (EXPORT_EXISTS); --force replaces them', () => {
  const directory = join(root, 'there')
  mkdirSync(directory)
  writeFileSync(join(directory, 'jwt.hex'), 'old')
  expect(() => writeExport(directory, files('one'), false)).toThrow(
    expect.objectContaining({ code: 'EXPORT_EXISTS', message: expect.stringContaining('jwt.hex') }),
  )
  expect(readdirSync(directory)).toEqual(['jwt.hex'])
  writeExport(directory, files('two'), true)
  expect(readFileSync(join(directory, 'genesis.json'), 'utf8')).toBe('two')
  expect(readFileSync(join(directory, 'jwt.hex'), 'utf8')).toBe('11'.repeat(32))
  expect(statSync(join(directory, 'jwt.hex')).mode & 0o777).toBe(0o600)
})

it('cli/devnet/exportFiles: keeps other files of the directory', () => {
  const directory = join(root, 'mixed')
  mkdirSync(directory)
  writeFileSync(join(directory, 'notes.txt'), 'mine')
  writeExport(directory, files('one'), false)
  expect(readdirSync(directory).toSorted()).toEqual(['genesis.json', 'jwt.hex', 'notes.txt'])
})

it('cli/devnet/exportFiles: leaves no temporary file when it cannot write (EXPORT_UNWRITABLE)', () => {
  const path = join(root, 'file')
  writeFileSync(path, '')
  expect(() => writeExport(join(path, 'under'), files('one'), false)).toThrow(expect.objectContaining({ code: 'EXPORT_UNWRITABLE' }))
  const directory = join(root, 'blocked')
  mkdirSync(join(directory, 'jwt.hex', 'full'), { recursive: true })
  expect(() => writeExport(directory, files('one'), true)).toThrow(expect.objectContaining({ code: 'EXPORT_UNWRITABLE' }))
  expect(readdirSync(directory).filter((name) => /[0-9a-f]{16}$/.test(name))).toEqual([])
})
