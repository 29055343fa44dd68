import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { KnownHead, readPlainHead } from './plainRequest.ts'

const headOf = (length: string, more = '', name = 'content-length') =>
  Buffer.from(`POST / HTTP/1.1\r\nhost: a\r\nuser-agent: content-length: 7\r\n${name}: ${length}\r\n${more}\r\n`)
const known = (bytes: Buffer) => new KnownHead(bytes, readPlainHead(bytes) ?? expect.fail())

it.each(['', 'accept: */*\r\n'])(
  'rpc/server/plainRequest: matches a known head with another body length as a new parse does (%j after it)',
  (more) => {
    const last = known(headOf('12', more, 'Content-Length'))
    for (const length of ['0', '7', '12', '999', '65536', '065']) {
      const bytes = Buffer.concat([headOf(length, more, 'Content-Length'), Buffer.from('body')])
      const { length: of, bodyLength } = readPlainHead(bytes) ?? expect.fail()
      expect(last.match(bytes)).toMatchObject({ length: of, bodyLength })
    }
  },
)

it('rpc/server/plainRequest: a match with a known head equals a new parse', () => {
  const last = known(headOf('12', 'accept: */*\r\n'))
  const same = headOf('34', 'accept: */*\r\n').toString('latin1')
  const edit = fc.tuple(
    fc.nat(same.length),
    fc.nat(3),
    fc.constantFrom('', '0', '9', ' ', '\r', '\n', '\r\n', ':', 'x', 'content-length: 1\r\n'),
  )
  fc.assert(
    fc.property(edit, ([at, cut, put]) => {
      const bytes = Buffer.from(same.slice(0, at) + put + same.slice(at + cut), 'latin1')
      const again = last.match(bytes)
      const fresh = readPlainHead(bytes)
      if (again) expect(again).toMatchObject({ length: fresh?.length, bodyLength: fresh?.bodyLength })
    }),
    { numRuns: 2_000 },
  )
})

it.each(['', 'x', '-1', '65537', '000012', '99999999999999999999', '1 2'])(
  'rpc/server/plainRequest: does not match a known head when the length is %j',
  (length) => {
    expect(known(headOf('12')).match(headOf(length))).toBeUndefined()
  },
)
