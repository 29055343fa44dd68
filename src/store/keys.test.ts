import { expect, it } from 'vitest'
import { afterPrefix } from './keys.ts'

it('store/keys: returns the key after a prefix, also of a Buffer, which stays as it is', () => {
  const prefix = Buffer.of(1, 0x2f, 0xff)
  expect(afterPrefix(prefix)).toEqual(Uint8Array.of(1, 0x30))
  expect(prefix).toEqual(Buffer.of(1, 0x2f, 0xff))
  expect(afterPrefix(Uint8Array.of(0xff, 0xff))).toBeUndefined()
})
