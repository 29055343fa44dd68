import { expect, it } from 'vitest'
import { l1Fault } from './faults.ts'

it('l1/faults: names a beacon API request by its path, and other requests as given', () => {
  const at = { endpoint: 'b.example', reason: 'ECONNREFUSED' }
  expect(l1Fault('L1_UNREACHABLE', { ...at, asked: 'genesis' }).message).toBe(
    'b.example does not answer beacon API /eth/v1/beacon/genesis: ECONNREFUSED',
  )
  expect(l1Fault('L1_REFUSED', { ...at, asked: 'config', status: 401 }).message).toContain('refuses beacon API /eth/v1/config/spec')
  for (const asked of ['eth_chainId', 'constructor']) {
    expect(l1Fault('L1_UNREACHABLE', { ...at, asked }).message).toBe(`b.example does not answer ${asked}: ECONNREFUSED`)
  }
})
