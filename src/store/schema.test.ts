import { describe, expect, it } from 'vitest'
import { createMemoryKv } from '#test/harness/store/memoryKv'
import type { Kv, KvWriter } from './ports.ts'
import { agreeOnSchema, type Migration, requireReadable, type Schema } from './schema.ts'

const key = Uint8Array.of(1)
const schema = (version: number, migrations: readonly Migration[] = []): Schema => ({ version, metaTable: 1, migrations })
const append = (to: number): Migration => ({
  to,
  name: `step ${to}`,
  run: (tx: KvWriter) => tx.put(2, key, Uint8Array.of(...(tx.get(2, key) ?? []), to)),
})
const rowOf = (kv: Kv): Uint8Array | undefined => {
  using snapshot = kv.snapshot()
  return snapshot.get(2, key)
}

describe('store/schema', () => {
  it('store/schema: marks new tables, and leaves tables of its own version unchanged', async () => {
    await using kv = createMemoryKv()
    expect(agreeOnSchema(kv, schema(3))).toEqual([])
    expect(agreeOnSchema(kv, schema(3))).toEqual([])
  })

  it('store/schema: migrates older tables step by step to its version, once', async () => {
    await using kv = createMemoryKv()
    agreeOnSchema(kv, schema(1))
    const steps = [append(3), append(2)]
    expect(agreeOnSchema(kv, schema(3, steps))).toEqual(['step 2', 'step 3'])
    expect(rowOf(kv)).toEqual(Uint8Array.of(2, 3))
    expect(agreeOnSchema(kv, schema(3, steps))).toEqual([])
  })

  it('store/schema: a failed step keeps the previous version', async () => {
    await using kv = createMemoryKv()
    agreeOnSchema(kv, schema(1))
    const failing: Migration = {
      to: 3,
      name: 'fails',
      run: (tx) => {
        append(3).run(tx)
        throw new Error('killed')
      },
    }
    expect(() => agreeOnSchema(kv, schema(3, [append(2), failing]))).toThrow('killed')
    expect(agreeOnSchema(kv, schema(3, [append(2), append(3)]))).toEqual(['step 3'])
    expect(rowOf(kv)).toEqual(Uint8Array.of(2, 3))
  })

  it('store/schema: reads tables that could be migrated, and no older ones (SCHEMA_TOO_OLD)', async () => {
    await using kv = createMemoryKv()
    agreeOnSchema(kv, schema(3))
    using reader = kv.snapshot()
    for (const steps of [[append(4)], [append(4), append(5)]]) requireReadable(reader, schema(3 + steps.length, steps))
    expect(() => requireReadable(reader, schema(5, [append(5)]))).toThrow(expect.objectContaining({ code: 'SCHEMA_TOO_OLD' }))
    expect(() => requireReadable(reader, schema(2, [append(2)]))).toThrow(expect.objectContaining({ code: 'SCHEMA_NEWER' }))
  })

  it('store/schema: rejects tables of a newer version (SCHEMA_NEWER) and of a version without a migration (SCHEMA_TOO_OLD)', async () => {
    await using kv = createMemoryKv()
    agreeOnSchema(kv, schema(3))
    expect(() => agreeOnSchema(kv, schema(2))).toThrow(expect.objectContaining({ code: 'SCHEMA_NEWER' }))
    expect(() => agreeOnSchema(kv, schema(5, [append(5)]))).toThrow(expect.objectContaining({ code: 'SCHEMA_TOO_OLD' }))
  })
})
