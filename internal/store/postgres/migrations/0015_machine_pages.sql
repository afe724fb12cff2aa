-- needs: 4
-- Laptops are listed page by page in the order of the bytes of their ids.
CREATE INDEX machines_paged ON machines (tenant, id COLLATE "C");
