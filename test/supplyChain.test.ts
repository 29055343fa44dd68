import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { knownWithoutIntegrity, type Lock, withoutIntegrity } from '../scripts/lockEntries.ts'

const read = (name: string): string => readFileSync(join(resolve(import.meta.dirname, '..'), name), 'utf8')
const lock = JSON.parse(read('package-lock.json')) as Lock

it('package-lock.json: has an integrity for every package except the listed ones of other platforms', () => {
  expect(withoutIntegrity(lock)).toEqual(knownWithoutIntegrity)
})

it('scripts/lockEntries: finds an entry without integrity', () => {
  const packages = { ...lock.packages, 'node_modules/a/node_modules/@b/c': { version: '1.2.3' } }
  expect(withoutIntegrity({ packages })).toContain('@b/c@1.2.3')
})

it('Dockerfile: names the base image by digest', () => {
  const dockerfile = read('Dockerfile')
  for (const [line] of dockerfile.matchAll(/^FROM .*/gm)) expect(line).toMatch(/^FROM \$\{BASE_IMAGE\}( AS \w+)?$/)
  expect(dockerfile).toMatch(/^ARG BASE_IMAGE=node:[\d.]+-bookworm-slim@sha256:[0-9a-f]{64}$/m)
})
