import { keccak256 } from '#lib/keccak'
import { bytes } from '../../codecs/values.ts'
import { param } from '../../registry.ts'
import { ethMethod } from '../define.ts'

export const sha3 = ethMethod({
  name: 'web3_sha3',
  doc: 'Keccak-256 of bytes.',
  params: [param('data', bytes)],
  result: bytes,
  cost: 'instant',
  example: { params: ['0x68656c6c6f'], result: '0x1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8' },
  run: (_context, data) => keccak256(data),
})
