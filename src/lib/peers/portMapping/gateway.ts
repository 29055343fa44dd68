import { request } from 'node:http'
import { isIPv4 } from 'node:net'

/** Services that map ports, the better one first. */
const services = [
  'urn:schemas-upnp-org:service:WANIPConnection:2',
  'urn:schemas-upnp-org:service:WANIPConnection:1',
  'urn:schemas-upnp-org:service:WANPPPConnection:1',
] as const
const [maxBytes, timeoutMs] = [65_536, 3_000]
/** Error of gateways that map ports for ever, or not at all. */
const onlyPermanentLeases = 725

/** `ownAddress`: address of this machine as the gateway sees it. */
type Answer = { readonly status: number; readonly body: string; readonly ownAddress: string }
export type Protocol = 'TCP' | 'UDP'

/** A call that the gateway refused. */
class GatewayError extends Error {
  readonly code: number

  constructor(action: string, code: number, reason: string) {
    super(`${action}: error ${code}${reason === '' ? '' : `, ${reason}`}`)
    this.code = code
  }
}

function exchange(url: URL, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(
      url,
      { method: body === undefined ? 'GET' : 'POST', headers, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        const parts: Buffer[] = []
        let size = 0
        const ownAddress = response.socket.localAddress ?? ''
        response.on('data', (part: Buffer) => {
          size += part.length
          if (size > maxBytes) return void call.destroy(new Error(`answer of more than ${maxBytes} bytes`))
          parts.push(part)
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8'), ownAddress }))
        response.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

/** Returns the text of the first element with a name; descriptions and answers have flat elements without attributes. */
const element = (xml: string, name: string): string | undefined => new RegExp(`<(?:\\w+:)?${name}>([^<]*)</`).exec(xml)?.[1]?.trim()

/** A gateway of the local network that maps ports. */
export class Gateway {
  readonly #control: URL
  readonly #service: string
  readonly #ownAddress: string

  private constructor(control: URL, service: string, ownAddress: string) {
    this.#control = control
    this.#service = service
    this.#ownAddress = ownAddress
  }

  /** Reads the description of a device. @throws Error when it is unreachable, or maps no ports */
  static async at(description: URL): Promise<Gateway> {
    const { status, body, ownAddress } = await exchange(description, {})
    if (status !== 200) throw new Error(`${description.href}: status ${status}`)
    const offered = body.split('<service>').slice(1)
    for (const service of services) {
      const path = offered.filter((one) => element(one, 'serviceType') === service).map((one) => element(one, 'controlURL'))[0]
      if (path === undefined || !URL.canParse(path, description.href)) continue
      const control = new URL(path, description)
      if (control.host === description.host) return new Gateway(control, service, ownAddress)
    }
    throw new Error(`${description.href}: no service that maps ports`)
  }

  /** @throws GatewayError, Error */
  async externalAddress(): Promise<string> {
    const address = element(await this.#call('GetExternalIPAddress', {}), 'NewExternalIPAddress') ?? ''
    if (!isIPv4(address)) throw new Error(`GetExternalIPAddress: ${address === '' ? 'no address' : address}`)
    return address
  }

  /** Maps a port to the same one of this machine. @throws GatewayError, Error */
  async map(protocol: Protocol, port: number, leaseSec: number): Promise<void> {
    const mapping = {
      ...{ NewRemoteHost: '', NewExternalPort: port, NewProtocol: protocol, NewInternalPort: port, NewInternalClient: this.#ownAddress },
      ...{ NewEnabled: 1, NewPortMappingDescription: 'basalt' },
    }
    try {
      await this.#call('AddPortMapping', { ...mapping, NewLeaseDuration: leaseSec })
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== onlyPermanentLeases) throw error
      await this.#call('AddPortMapping', { ...mapping, NewLeaseDuration: 0 })
    }
  }

  /** @throws GatewayError, Error */
  async unmap(protocol: Protocol, port: number): Promise<void> {
    await this.#call('DeletePortMapping', { NewRemoteHost: '', NewExternalPort: port, NewProtocol: protocol })
  }

  async #call(action: string, values: Readonly<Record<string, string | number>>): Promise<string> {
    const fields = Object.entries(values).map(([name, value]) => `<${name}>${value}</${name}>`)
    const body = `<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" s:encodingStyle="http://schemas.xmlsoap.org/soap/encoding/"><s:Body><u:${action} xmlns:u="${this.#service}">${fields.join('')}</u:${action}></s:Body></s:Envelope>`
    const headers = { 'content-type': 'text/xml; charset="utf-8"', soapaction: `"${this.#service}#${action}"` }
    const answer = await exchange(this.#control, { ...headers, 'content-length': String(Buffer.byteLength(body)) }, body)
    if (answer.status === 200) return answer.body
    const reason = (element(answer.body, 'errorDescription') ?? '').slice(0, 80)
    throw new GatewayError(action, Number(element(answer.body, 'errorCode') ?? answer.status), reason)
  }
}
