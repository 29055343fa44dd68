import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openLmdbKv } from '#store/lmdbKv'
import { createMemoryKv } from '#store/memoryKv'
import { tables } from '#store/tables'
import { stateContract } from '#test/contract/state'
import { stateStackContract } from '#test/contract/stateStack'

const base = mkdtempSync(join(tmpdir(), 'basalt-state-'))
let dirs = 0
const newDir = (): string => join(base, String(dirs++))

afterAll(() => rmSync(base, { recursive: true, force: true }))

stateContract('memory', createMemoryKv, 25)
stateContract('lmdb', () => openLmdbKv(newDir(), Object.values(tables)), 6)
stateStackContract('memory', createMemoryKv, 15)
stateStackContract('lmdb', () => openLmdbKv(newDir(), Object.values(tables)), 5)
