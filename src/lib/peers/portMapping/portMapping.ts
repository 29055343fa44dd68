import type { Clock } from '../../clock.ts'
import { errorMessage } from '../../fault.ts'
import type { Log } from '../../log.ts'
import { addressRange } from '../addressRange.ts'
import { Gateway, type Protocol } from './gateway.ts'
import { findGateways, type ssdpAddress } from './ssdp.ts'

export type MappedPort = { readonly protocol: Protocol; readonly port: number }
type Deps = { readonly clock: Clock; readonly log: Log }

/** Time for answers of gateways; how long a mapping lasts; interval of its renewal. */
const [searchMs, leaseSec, renewMs] = [3_000, 3_600, 1_200_000]

/** Ports of this machine that a gateway passes on, by UPnP. They are renewed, and removed at the end. */
export class PortMapping implements AsyncDisposable {
  readonly #deps: Deps
  readonly #gateway: Gateway
  readonly #ports: readonly MappedPort[]
  /** IPv4 address of the gateway, as it last reported it */
  #address: string
  /** address under which peers reach this node; undefined: the gateway has no public address */
  readonly externalAddress: string | undefined
  #timer: Disposable | undefined

  private constructor(deps: Deps, gateway: Gateway, address: string, ports: readonly MappedPort[]) {
    this.#deps = deps
    this.#gateway = gateway
    this.#ports = ports
    this.#address = address
    this.externalAddress = addressRange(address) === 'public' ? address : undefined
    this.#plan()
  }

  /** Maps ports. @returns undefined when no gateway does; the log says why */
  static async open(deps: Deps, ports: readonly MappedPort[], search?: typeof ssdpAddress): Promise<PortMapping | undefined> {
    const { clock, log } = deps
    const locations = await findGateways(clock, searchMs, search)
    const reasons: string[] = locations.length === 0 ? ['no gateway has answered'] : []
    for (const location of locations) {
      try {
        const gateway = await Gateway.at(location)
        const address = await gateway.externalAddress()
        for (const { protocol, port } of ports) await gateway.map(protocol, port, leaseSec)
        log.info('ports mapped by the gateway', { address, ports: ports.map(({ protocol, port }) => `${port}/${protocol}`).join(' ') })
        const mapping = new PortMapping(deps, gateway, address, ports)
        if (mapping.externalAddress === undefined)
          log.warn('the gateway has no public address, not advertised: peers may not reach this node', { address })
        return mapping
      } catch (error) {
        reasons.push(errorMessage(error))
      }
    }
    log.warn('ports not mapped by UPnP: forward them in the router, or name the address with --p2p.advertise', {
      reason: reasons.join('; '),
    })
    return undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.[Symbol.dispose]()
    for (const { protocol, port } of this.#ports)
      await this.#gateway.unmap(protocol, port).catch((error: unknown) => this.#deps.log.debug('port mapping not removed', { port, error }))
  }

  #plan(): void {
    this.#timer = this.#deps.clock.after(renewMs, () => {
      void this.#renew()
      this.#plan()
    })
  }

  async #renew(): Promise<void> {
    const address = await this.#gateway.externalAddress().catch((error: unknown) => {
      this.#deps.log.debug('external address not read', { reason: errorMessage(error) })
      return this.#address
    })
    if (address !== this.#address)
      this.#deps.log.warn('external address has changed: restart the node to advertise the new one', {
        before: this.#address,
        now: address,
      })
    this.#address = address
    for (const { protocol, port } of this.#ports)
      await this.#gateway
        .map(protocol, port, leaseSec)
        .catch((error: unknown) => this.#deps.log.warn('port mapping not renewed', { port, protocol, reason: errorMessage(error) }))
  }
}
